import type { AccountEvent } from '../events/event-record.ts'
import type { DeliveredEvent, Delivery, DeliveryState, Replay, StoredDelivery } from './delivery.ts'

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
  /** A delivery without a failure that is due after `afterMs` is due at `dueAt`. */
  unfailed: { afterMs: number; dueAt: number }
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
   * They become pending and due under the same ids, with a new retry schedule. Returns their
   * number.
   */
  replay(query: Replay): Promise<number>
  /**
   * Erases orders that accounts no longer have. Of each, the pending and held deliveries of events
   * before the removal become canceled, and no delivery of them keeps its change or an excerpt.
   * Earlier events have an earlier instant, or the same instant and a smaller sequence.
   */
  forgetOrders(removals: readonly Removal[]): Promise<void>
  backlog(nowMs: number): Promise<DeliveryBacklog>
  /** Removes deliveries of events recorded before this instant, unless they are pending or held. */
  purge(beforeMs: number): Promise<void>
  /** Removes the excerpts of attempts before this instant. */
  purgeExcerpts(beforeMs: number): Promise<void>
}

/** The methods that search. */
export type DeliverySearch = Pick<
  DeliveryStore,
  'list' | 'due' | 'nextDueAt' | 'nextDueByEndpoint' | 'heldEndpoints' | 'failingSince' | 'backlog'
>
