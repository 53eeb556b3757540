import type { KeyStore } from '../auth/key-store.ts'
import type { PepperCheckStore } from '../auth/pepper-check.ts'
import type { IndexInspection } from '../indexing/consistency-check/index-inspection.ts'
import type { Reindexing } from '../indexing/reindexing.ts'
import type { OrderIndex, WriterPurpose } from '../indexing/writer/order-index.ts'
import type { Clock } from '../lib/clock.ts'
import type { ManagementStores } from '../management/management-stores.ts'
import type { OrderStore } from '../orders/order-store.ts'
import type { WebhookStores } from '../webhooks/webhook-stores.ts'

/** A `server` keeps running, so no write may block it for long; a `command` ends soon. */
export type ProcessRole = 'server' | 'command'

/** Receives what an operator should know or correct, when stores are opened. */
export type OnWarning = (warning: string) => void

/** The stores of orders, keys and accounts; every implementation opens them together. */
export interface Stores {
  orders: OrderStore
  keys: KeyStore
  /** `null` for a store that is used with a configured pepper only. */
  pepperCheck: PepperCheckStore | null
  /**
   * Becomes the sole writer of all processes, until the index is closed.
   * @throws IndexLost; ClockSkewError, TimestampsAheadError when no write timestamp is allowed
   */
  openIndex(options?: OpenIndexOptions): Promise<OrderIndex>
  /** How often a waiting writer tries again, in milliseconds. */
  writerPollMs: number
  /** Reads the index for an operator, without becoming the writer. */
  inspection: IndexInspection
  /** Rebuilds of the index; `null` for a store whose tables migrate when opened. */
  reindexing: Reindexing | null
  /** Endpoints, deliveries and the events that writers recorded. */
  webhooks: WebhookStores
  /** The audit log, usage, sessions of the console, repeated requests, and the sandbox. */
  managementStores: ManagementStores
  /**
   * Creates what the first write needs. Idempotent.
   * @throws IndexLost
   */
  initialize(): Promise<void>
  /**
   * Creates what webhooks and the management API need. A process does so too, once: this replaces
   * what was removed since.
   */
  initializeOthers(): Promise<void>
  /**
   * Read-only; sends no request after the first success.
   * @throws UnsupportedStore when the configured store is of another kind or too old; Unavailable
   */
  assertSupported(): Promise<void>
  /** Read-only. @throws IndexLost when the index of the orders is gone; Unavailable */
  assertIndexNotLost(): Promise<void>
  /**
   * Makes the next writer accept the machine's clock, after an operator confirmed a detected step;
   * `null` for a store that has a separate clock.
   */
  trustClock: (() => void) | null
  close(): Promise<void>
}

export interface OpenIndexOptions {
  /** Epoch milliseconds; the machine's own when absent. */
  clock?: Clock
  /** `load` when absent. A load is rejected while a watch runs. */
  purpose?: WriterPurpose
  /** Receives the reason of a delay, in words for an operator. */
  onDelay?(reason: string): void
  /** Ends the wait for another writer and for the store. */
  signal?: AbortSignal
}
