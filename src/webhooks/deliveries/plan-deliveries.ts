import type { Endpoint } from '../endpoints/endpoint.ts'
import { type AccountEvent, accountEvents, type EventRecord } from '../events/event-record.ts'
import type { Delivery } from './delivery.ts'
import { deliveryId } from './delivery-id.ts'

export interface DeliveryPlan {
  /** One for each event and matching endpoint, in the order of the events. */
  deliveries: Delivery[]
  /** The events that end an account's view of an order. */
  removals: AccountEvent[]
}

export interface PlanContext {
  /** The endpoints of an account that are not deleted. */
  endpointsOf(accountId: string): readonly Endpoint[]
  /** Epoch milliseconds. */
  nowMs: number
  firstDelayMs: number
}

/** The deliveries of event records, those of an order in their sequence. Pure. */
export function planDeliveries(
  records: readonly EventRecord[],
  context: PlanContext,
): DeliveryPlan {
  const events = records.flatMap((record) => accountEvents(record))
  const removals = events.filter(({ type }) => type === 'order.removed')
  const lastRemovalOf = new Map(
    removals.toSorted(compareEvents).map((event) => [orderKey(event), event]),
  )
  const isRemoved = (event: AccountEvent) => {
    const removal = removals.length > 0 ? lastRemovalOf.get(orderKey(event)) : undefined
    return removal !== undefined && compareEvents(event, removal) < 0
  }
  const deliveries: Delivery[] = []
  for (const event of events) {
    for (const endpoint of context.endpointsOf(event.accountId)) {
      if (!matches(endpoint, event)) continue
      deliveries.push(planDelivery(event, endpoint, isRemoved(event), context))
    }
  }
  return { deliveries, removals }
}

/**
 * The order of the events of an order. Sequences start again after the loss of the version records.
 * Instants do not go back, except by seconds in records of releases that did not store the last
 * one.
 */
const compareEvents = (one: AccountEvent, other: AccountEvent) =>
  one.recordedAt - other.recordedAt || one.sequence - other.sequence

const orderKey = ({ accountId, orderId }: AccountEvent) => `${accountId}\n${orderId}`

/** `createdAt` instead of `startsAt`, because the clock of the writer may be behind. */
function matches({ events, createdAt }: Endpoint, { type, recordedAt }: AccountEvent): boolean {
  return recordedAt >= createdAt && (events === null || events.includes(type))
}

function planDelivery(
  event: AccountEvent,
  { id, disabledReason }: Endpoint,
  isRemoved: boolean,
  { nowMs, firstDelayMs }: PlanContext,
): Delivery {
  const stateUnlessRemoved = disabledReason === null ? 'pending' : 'held'
  const state = isRemoved ? 'canceled' : stateUnlessRemoved
  return {
    id: deliveryId(event, id),
    endpointId: id,
    accountId: event.accountId,
    // Nothing of a removed order is stored.
    event: isRemoved ? { ...event, change: {} } : event,
    state,
    // The instant of the record keeps events of an order in order when dispatchers' clocks differ.
    nextAt: state === 'pending' ? Math.min(nowMs, event.recordedAt) + firstDelayMs : null,
    attempts: [],
    step: 0,
    firstFailedAt: null,
    heldAt: state === 'held' ? nowMs : null,
  }
}
