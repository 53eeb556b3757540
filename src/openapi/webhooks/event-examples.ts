import type { SourceOrder } from '../../indexing/projection/source-order.ts'
import { toEpochMs } from '../../lib/instant.ts'
import type { Order } from '../../orders/order.ts'
import { renderEventBody } from '../../webhooks/deliveries/event-body.ts'
import { announce } from '../../webhooks/events/announce.ts'
import { accountEvents, type EventRecord } from '../../webhooks/events/event-record.ts'
import {
  type DeliveredType,
  type EventType,
  eventTypes,
  TEST_EVENT,
} from '../../webhooks/events/event-types.ts'
import { type OrderState, type StateChange, stateOf } from '../../webhooks/events/order-state.ts'
import { EXAMPLE_ACCOUNT } from '../examples/base-order.ts'
import { viewOf } from '../examples/order-examples.ts'
import { boletoOrder, pixOrder, splitOrder, subscription } from '../examples/source-orders.ts'

/** The body of a webhook, as an example. */
export interface ExampleEvent {
  id: string
  type: DeliveredType
  timestamp: string
  account_id: string
  order_id: string | null
  sequence: number | null
  change: StateChange
  data?: Order
}

export const testEventExample: ExampleEvent = {
  id: 'evt_7dY2mQ0xK5sR8vB3nH6jT1wZ',
  type: TEST_EVENT,
  timestamp: '2026-03-01T12:00:00.000Z',
  account_id: EXAMPLE_ACCOUNT,
  order_id: null,
  sequence: null,
  change: {},
}

const exampleHistories = [pixOrder, subscription, boletoOrder, splitOrder]

/**
 * An example of each type: the first event of that type in these histories.
 * @throws Error with the types that no history announces
 */
export function eventExamples(
  histories: readonly (readonly SourceOrder[])[] = exampleHistories,
): Record<DeliveredType, ExampleEvent> {
  const events = histories.flatMap((versions) => eventsOf(versions, REMOVED_AT))
  const missing = eventTypes.filter((type) => !events.some((event) => event.type === type))
  if (missing.length > 0) {
    throw new Error(
      `no example of ${missing.join(', ')}: add a version that announces it to a history in src/openapi/examples/source-orders.ts; list a new history in exampleHistories of src/openapi/webhooks/event-examples.ts`,
    )
  }
  // Later entries replace earlier ones.
  const byType = [testEventExample, ...events.reverse()].map((event) => [event.type, event])
  return Object.fromEntries(byType)
}

const REMOVED_AT = '2026-06-01T12:00:00.000Z'

/** The same event with the payload `thin`. */
export function thin({ data: _order, ...event }: ExampleEvent): ExampleEvent {
  return event
}

/** What each version announces, as the dispatcher sends it, and the removal at last. */
function eventsOf(versions: readonly SourceOrder[], removedAt: string): ExampleEvent[] {
  let before: OrderState | null = null
  let sequence = 0
  const record = (source: SourceOrder, at: string, after: OrderState | null): EventRecord => {
    const types: EventType[] =
      after === null ? ['order.removed'] : announce(before, after, { isViewChanged: true })
    const events = types.map((type) => {
      sequence += 1
      return { sequence, type, accountIds: [EXAMPLE_ACCOUNT] }
    })
    const { id: orderId, version } = source
    const accountIds = after === null ? [] : [EXAMPLE_ACCOUNT]
    const state = { before, after, accountIds, digests: {} }
    before = after
    return { orderId, version, recordedAt: toEpochMs(at), events, ...state }
  }

  const changes = versions.flatMap((source) => {
    const order = viewOf(source)
    const state = stateOf(order, source.payments.at(-1)?.id ?? null)
    return bodies(record(source, order.updated_at, state), order)
  })
  const removed = versions.slice(-1).flatMap((last) => bodies(record(last, removedAt, null)))
  return [...changes, ...removed]
}

function bodies(record: EventRecord, data?: Order): ExampleEvent[] {
  const order = data === undefined ? null : Buffer.from(JSON.stringify(data))
  return accountEvents(record).map((event) => JSON.parse(renderEventBody(event, order).toString()))
}
