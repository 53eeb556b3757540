import type { Order } from './schema.ts'

/**
 * Where `sync` keeps a copy of an account's orders. A store of your own implements it, best in a database where
 * orders and state are written in one transaction. One `sync` at a time may be at work on a copy.
 */
export interface OrderCopy {
  /** What the last `save` kept, `null` before the first. */
  read(): Promise<SyncState | null>
  /**
   * Keeps each order by its `id` in place of the version before, marked as seen in the pass `state.pass.number`, and then
   * the state: never the state without the orders. The orders without the state are harmless: they come again.
   */
  save(orders: readonly Order[], state: SyncState): Promise<void>
  /**
   * Drops every order whose mark is of an earlier pass (a later one's stays: a process that died may have left it), and
   * answers how many that were. Without it, orders that are gone from the API stay in the copy.
   */
  dropUnseen?(pass: number): Promise<number>
  /**
   * How many orders `dropUnseen` would drop, of how many that the copy has. Without it, `sync` goes by the orders that
   * the last two walks over everything were given, and so cannot tell a mass removal from a copy that grew in between.
   */
  countUnseen?(pass: number): Promise<{ unseen: number; total: number }>
}

/** How far a copy is; plain JSON, to be kept as it is. */
export interface SyncState {
  version: 1
  /** The address and a digest of the key that it is a copy through. */
  source: { url: string; key: string }
  /** Only orders updated from here on are wanted; `null`: all. */
  since: string | null
  /** The greatest `updated_at` seen. */
  watermark: string | null
  /** When the last walk over everything ended, by the clock of this machine. */
  walkedAt: string | null
  /** Orders that the last walk over everything was given; absent in a copy of an earlier client. */
  walkedOrders?: number
  /** The walk under way, or the one that ended last. */
  pass: Pass
}

export interface Pass {
  /** 1, 2, 3, …: what `dropUnseen` knows it by. */
  number: number
  /** `all`: what it does not see is gone. `changes`: from `updatedGte` on. */
  kind: 'all' | 'changes'
  updatedGte: string | null
  /** Orders that it was given so far, also by earlier calls; absent in a copy of an earlier client. */
  received?: number
  /** Leads to the page after the last one that was saved; `null` before the first. */
  cursor: string | null
  /** `listed`: every page is saved. `done`: what is gone is dropped, too. */
  reached: 'listing' | 'listed' | 'done'
}
