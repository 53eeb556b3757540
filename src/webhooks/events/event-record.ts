import { derivedEventId } from './event-id.ts'
import type { EventType } from './event-types.ts'
import { diffStates, type OrderState, type StateChange } from './order-state.ts'

/** One event of an order, for the accounts that it concerns. */
export interface RecordedEvent {
  /** Counts the events of an order, from 1. */
  sequence: number
  type: EventType
  /** Accounts with a webhook endpoint. */
  accountIds: readonly string[]
}

/**
 * The events of one version of an order. They are written once, after the views of the order and
 * before its version record. So a state is always durable before its announcement.
 */
export interface EventRecord {
  orderId: string
  /** The version of the order. */
  version: number
  /**
   * The writer's clock when it decided, but never before the last record of the order; epoch
   * milliseconds. `timestamp` of the events.
   */
  recordedAt: number
  /** The states before and after; `null` where the order is not visible, and once it is erased. */
  before: OrderState | null
  after: OrderState | null
  /** The accounts that have a view of this version. */
  accountIds: readonly string[]
  /** Digests of their views, for accounts with an endpoint. */
  digests: Readonly<Record<string, string>>
  /** At least one, with consecutive sequences. */
  events: readonly RecordedEvent[]
}

/** An event as one account receives it. */
export interface AccountEvent {
  /** `evt_` and 24 base-62 digits; the `webhook-id` of every attempt. */
  id: string
  type: EventType
  accountId: string
  orderId: string
  sequence: number
  /** Epoch milliseconds. */
  recordedAt: number
  change: StateChange
}

/** The first sequence identifies the record of an order. */
export function firstSequence({ events }: Pick<EventRecord, 'events'>): number {
  return events[0]?.sequence ?? 0
}

/** The last sequence that the record uses. */
export function lastSequence({ events }: Pick<EventRecord, 'events'>): number {
  return events.at(-1)?.sequence ?? 0
}

/**
 * What is kept of a record once no account has the order: ids, types and instants of its events.
 * Their fan-out can still be repeated. Pure.
 */
export function withoutStates(record: EventRecord): EventRecord {
  return { ...record, before: null, after: null, accountIds: [], digests: {} }
}

/** The events of a record, one for each account that it concerns, in their sequence. Pure. */
export function accountEvents(record: EventRecord): AccountEvent[] {
  const created = record.events.find(({ type }) => type === 'order.created')
  const isFirstView = (accountId: string) => created?.accountIds.includes(accountId) ?? false
  return record.events.flatMap(({ sequence, type, accountIds }) =>
    accountIds.map((accountId) => ({
      id: eventId(record, sequence, accountId),
      type,
      accountId,
      orderId: record.orderId,
      sequence,
      recordedAt: record.recordedAt,
      change: changeOf(record, type, isFirstView(accountId)),
    })),
  )
}

function changeOf(
  { before, after }: EventRecord,
  type: EventType,
  isFirstView: boolean,
): StateChange {
  if (after === null || type === 'order.updated' || type === 'order.removed') return {}
  return diffStates(isFirstView ? null : before, after)
}

/**
 * Derived, so that a repeated fan-out finds the same event. Includes the instant, because sequences
 * start again after the loss of the version records.
 */
function eventId({ orderId, recordedAt }: EventRecord, sequence: number, accountId: string) {
  return derivedEventId([orderId, recordedAt, sequence, accountId].join('\n'))
}
