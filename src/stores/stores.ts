import type { KeyStore } from '../auth/key-store.ts'
import type { IndexInspection } from '../indexing/consistency-check/index-inspection.ts'
import type { Reindexing } from '../indexing/reindexing.ts'
import type { OrderIndex, WriterPurpose } from '../indexing/writer/order-index.ts'
import type { Clock } from '../lib/clock.ts'
import type { OrderStore } from '../orders/order-store.ts'

/** Where orders, keys and accounts are: every implementation opens all of it together. */
export interface Stores {
  orders: OrderStore
  keys: KeyStore
  /**
   * The write side, until it is closed: the only one of all processes where the store knows one writer
   * at a time.
   * @throws ClockAhead, StampsAhead when nothing could be stamped
   */
  openIndex(options?: OpenIndexOptions): Promise<OrderIndex>
  /** What is in the index, for an operator; no writer is needed. */
  inspection: IndexInspection
  /** New versions of the index; `null` where tables migrate when they are opened. */
  reindexing: Reindexing | null
  /**
   * Makes what has to be there before the first write, and stays as it is where it is there.
   * @throws IndexLost
   */
  initialize(): Promise<void>
  /** Writes nothing. @throws IndexLost where the index of the orders is gone; Unavailable */
  assertIndexNotLost(): Promise<void>
  /**
   * Lets the next writer begin with what the machine's clock shows then, where a step of it was found and is
   * right; `null` where the store has a clock of its own.
   */
  trustClock: (() => void) | null
  close(): Promise<void>
}

export interface OpenIndexOptions {
  /** Epoch milliseconds; the machine's own when absent. */
  clock?: Clock
  /** What is written, `load` when absent: a load is refused beside a living watch. */
  purpose?: WriterPurpose
  /** Told why nothing is written for a while, in words for an operator. */
  onDelay?(reason: string): void
  /** Ends the waiting, for another writer and for the store. */
  signal?: AbortSignal
}
