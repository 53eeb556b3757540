import type { Delivery, StoredDelivery } from './deliveries/delivery.ts'
import type { DeliveryStore } from './deliveries/delivery-store.ts'
import type { EndpointStore } from './endpoints/endpoint-store.ts'
import type { EventRecord } from './events/event-record.ts'

/** A page of records without deliveries. */
export interface EventPage {
  records: readonly EventRecord[]
  /**
   * Stores the deliveries of these records, then marks the records. After a failure the same page
   * is read again; a delivery that exists already stays as it is. Returns each with its revision,
   * so that a first attempt needs no read; `null` for one that existed.
   */
  fanOut(deliveries: readonly Delivery[]): Promise<(StoredDelivery | null)[]>
}

/** The records without deliveries. */
export interface EventBacklog {
  records: number
  /** Of the oldest one, epoch milliseconds; `null` without one. */
  oldestRecordedAt: number | null
}

/** The event records that writers leave for the dispatcher. Calls throw Unavailable. */
export interface EventFeed {
  /** The oldest records without deliveries, those of an order in their sequence; `null`: none. */
  next(limit: number): Promise<EventPage | null>
  backlog(): Promise<EventBacklog>
  /** Removes fanned-out records recorded before this instant. */
  purge(beforeMs: number): Promise<void>
}

/** Exclusive right to deliver. */
export interface DispatcherLease {
  /** Whether this process may send now. */
  isHeld(): boolean
  release(): Promise<void>
}

/** The process that delivers. */
export interface DispatcherStatus {
  holder: string
  alive: boolean
}

export interface AcquireDispatcherLease {
  /** Called with the process that this one waits for. */
  onDelay(reason: string): void
  /** Ends the wait. */
  signal: AbortSignal
}

/** What the dispatcher and the commands for webhooks need of a store. */
export interface WebhookStores {
  endpoints: EndpointStore
  deliveries: DeliveryStore
  events: EventFeed
  /**
   * Reports each document that is skipped because it cannot be read, once, with the remedy. Absent
   * for a store whose reads fail instead.
   */
  onDamaged?(report: (reason: string) => void): void
  /** Waits until no other process delivers. */
  acquireLease(options: AcquireDispatcherLease): Promise<DispatcherLease>
  /** The current or last holder; `null` before the first. Observes a lease for `waitMs` at most. */
  dispatcher(waitMs: number): Promise<DispatcherStatus | null>
}
