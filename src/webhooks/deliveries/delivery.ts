import type { AccountEvent } from '../events/event-record.ts'
import type { TEST_EVENT } from '../events/event-types.ts'

/** A test event concerns no order. */
export type DeliveredEvent =
  | AccountEvent
  | (Omit<AccountEvent, 'type' | 'orderId' | 'sequence'> & {
      type: typeof TEST_EVENT
      orderId: null
      sequence: null
    })

/**
 * `held`: its endpoint is disabled. `expired`: no attempt or time is left. `failed`: the receiver
 * returned 410. `canceled`: the endpoint was deleted, or the account has no view of the order.
 */
export const deliveryStates = [
  'pending',
  'delivered',
  'failed',
  'held',
  'canceled',
  'expired',
] as const
export type DeliveryState = (typeof deliveryStates)[number]

/**
 * No attempt follows, and the receiver did not accept the event. An index of SQLite has these states:
 * a further one needs a migration.
 */
export const FAILED_STATES: readonly DeliveryState[] = ['failed', 'expired']

export interface Attempt {
  /** Epoch milliseconds. */
  at: number
  /** The HTTP status; `null` without a response. */
  status: number | null
  /** Why it failed; `null` for a 2xx. */
  error: string | null
  durationMs: number
  /** The body that was sent. */
  bodySha256: string
  bodyBytes: number
  /** At most 512 bytes of the response, kept for 7 days. */
  excerpt: string | null
}

/** The delivery of one event to one endpoint. */
export interface Delivery {
  /** Derived from the event and the endpoint, so a repeated fan-out creates no second one. */
  id: string
  endpointId: string
  accountId: string
  event: DeliveredEvent
  state: DeliveryState
  /** When the next attempt is due, epoch milliseconds; `null` unless pending. */
  nextAt: number | null
  /** Oldest first. A resend keeps those before it. */
  attempts: readonly Attempt[]
  /** Steps of the retry schedule that are used up. Probes of the circuit breaker use none. */
  step: number
  /** The first failure since it became pending, epoch milliseconds. */
  firstFailedAt: number | null
  /** When it was held, epoch milliseconds. */
  heldAt: number | null
}

/** A delivery as read, with the state that a write must still find. */
export interface StoredDelivery extends Delivery {
  /** Opaque to all but the store. */
  revision: unknown
}

export interface DueQuery {
  endpointId: string
  nowMs: number
  /** The maximum number of deliveries. */
  limit: number
  /** Orders whose deliveries wait for an earlier one. */
  excludedOrders: readonly string[]
  /** Deliveries that the dispatcher already holds. */
  excludedIds: readonly string[]
}

export interface DeliveryBacklog {
  /** Pending deliveries that are due. */
  due: number
  oldestDueAt: number | null
}

/** The position of a delivery in a list. */
export interface DeliveryPosition extends Pick<DeliveredEvent, 'recordedAt'> {
  id: string
  /** 0 for a test event. */
  sequence: number
}

export interface DeliveryList {
  endpointId: string
  states?: readonly DeliveryState[]
  limit: number
  /** Only deliveries after this one; from the newest when absent. */
  after?: DeliveryPosition
}

/** The event that ends an account's view of an order. */
export type Removal = Pick<AccountEvent, 'accountId' | 'orderId' | 'sequence' | 'recordedAt'>

/** The latest instants of a delivery's fields with these names, epoch milliseconds. */
export interface LatestInstants {
  nextAt: number
  firstFailedAt: number
}

export interface Replay {
  endpointId: string
  /**
   * Of events recorded at or after this instant, epoch milliseconds. Of earlier events, what failed
   * or expired and meets {@link isReplayed}.
   */
  sinceMs: number
  /** Only what failed or expired; otherwise also what was delivered. */
  failedOnly: boolean
  nowMs: number
}

type EndedDelivery = Pick<Delivery, 'state' | 'attempts' | 'firstFailedAt' | 'heldAt'> & {
  event: Pick<DeliveredEvent, 'recordedAt'>
}

/**
 * Whether a replay sends an ended delivery again, whose state it includes. Of an earlier event, only
 * one that began to fail, was held or got its 410 since then: an endpoint fails since the first
 * failure, whose event is older. Nothing that was delivered after the call: a busy endpoint always
 * has more of it, so its replay would not end. Pure.
 */
export function isReplayed(
  { state, event, attempts, firstFailedAt, heldAt }: EndedDelivery,
  { sinceMs, nowMs }: Pick<Replay, 'sinceMs' | 'nowMs'>,
): boolean {
  const lastAt = attempts.at(-1)?.at ?? null
  if (state === 'delivered') return event.recordedAt >= sinceMs && (lastAt ?? 0) <= nowMs
  const instants = [event.recordedAt, firstFailedAt, heldAt, state === 'failed' ? lastAt : null]
  return instants.some((at) => at !== null && at >= sinceMs)
}

/** What a delivery has that is due at an instant, with a new retry schedule. Its attempts stay. */
export const pendingAt = (nextAt: number) =>
  ({ state: 'pending', nextAt, step: 0, firstFailedAt: null, heldAt: null }) as const

/** The attempts, those before an instant without their excerpts. */
export function withoutExcerpts(attempts: readonly Attempt[], beforeMs: number): Attempt[] {
  return attempts.map((attempt) =>
    attempt.at < beforeMs ? { ...attempt, excerpt: null } : attempt,
  )
}

/**
 * The deliveries of all endpoints. A read sees every write of this process that returned before it,
 * `fanOut` included. Calls throw Unavailable.
 */
export interface DeliveryStore {
  /**
   * Creates those that do not exist. Returns each with its revision, `null` for one that existed.
   */
  create(deliveries: readonly Delivery[]): Promise<(StoredDelivery | null)[]>
  byId(id: string): Promise<StoredDelivery | null>
  /**
   * The same for many, in the order of the ids. OpenSearch returns `null` also for a damaged one,
   * and reports it: it must not stop the others.
   */
  byIds(ids: readonly string[]): Promise<(StoredDelivery | null)[]>
  /** Newest event first, those with the greater sequence first; no two share a position. */
  list(query: DeliveryList): Promise<StoredDelivery[]>
  /** Pending deliveries of an endpoint that are due: by `nextAt`, then instant, then sequence. */
  due(query: DueQuery): Promise<StoredDelivery[]>
  /** When the first pending delivery of an endpoint is due; `null` without one. */
  nextDueAt(endpointId: string): Promise<number | null>
  /** The same for every endpoint that has one. */
  nextDueByEndpoint(): Promise<Map<string, number>>
  /** The endpoints that have a held delivery. */
  heldEndpoints(): Promise<string[]>
  /** Pending deliveries of an endpoint whose first failure is at or after this instant. */
  failingSince(endpointId: string, sinceMs: number, limit: number): Promise<StoredDelivery[]>
  /**
   * Replaces deliveries, except their ids and events. One that changed since it was read stays: its
   * position in the result is `null`, the others have their new revision.
   */
  save(deliveries: readonly StoredDelivery[]): Promise<(StoredDelivery | null)[]>
  /** In pending ones, later instants are replaced by these. */
  limitInstants(latest: LatestInstants): Promise<void>
  /** Pending ones become held. Returns their number. */
  hold(endpointId: string, nowMs: number): Promise<number>
  /**
   * Held ones become pending and due at the instant of their record, with a new retry schedule.
   * Returns their number.
   */
  releaseHeld(endpointId: string, nowMs: number): Promise<number>
  /** Pending and held ones become canceled. */
  cancel(endpointId: string): Promise<void>
  /** Held ones of before `beforeMs` become expired. */
  expireHeld(beforeMs: number): Promise<void>
  /**
   * They become pending and due under the same ids, with a new retry schedule. Returns their number.
   */
  replay(query: Replay): Promise<number>
  /**
   * Forgets orders that accounts no longer have: of each, deliveries of events before the removal
   * that are pending or held become canceled, and none keeps its change or an excerpt. Before it are
   * events of an earlier instant, and those of the same instant with a smaller sequence.
   */
  forgetOrders(removals: readonly Removal[]): Promise<void>
  backlog(nowMs: number): Promise<DeliveryBacklog>
  /** Removes deliveries of events recorded before this instant, unless they are pending or held. */
  purge(beforeMs: number): Promise<void>
  /** Removes the excerpts of attempts before this instant. */
  purgeExcerpts(beforeMs: number): Promise<void>
}
