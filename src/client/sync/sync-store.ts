import type { Order } from '../schema.ts'

/**
 * Where `sync` keeps an account's orders. Implement it on a database of your own, and write orders
 * and state in one transaction. Run one `sync` at a time per store.
 */
export interface SyncStore {
  /** The state of the last `save`; `null` before the first. */
  read(): Promise<SyncState | null>
  /**
   * Upserts each order by `id`, marked with the run `state.pass.number`, and then writes the state.
   * Never write the state without the orders. Orders without the state are safe: the next run saves
   * them again. No id is twice in `orders`.
   */
  save(orders: readonly Order[], state: SyncState): Promise<void>
  /**
   * Deletes every order marked with an earlier run, and returns how many. Orders of a later run
   * stay: a process that crashed may have saved them. Without this method, orders that were erased
   * from the API stay in the store.
   */
  deleteUnseen?(run: number): Promise<number>
  /**
   * How many orders `deleteUnseen` would delete, and how many the store has. Without this method,
   * `sync` compares the totals of the last two full syncs, which is less exact.
   */
  countUnseen?(run: number): Promise<{ unseen: number; total: number }>
  /** Deletes an order, if the store has it. Only `applyRemoval` calls this method. */
  remove?(id: string): Promise<void>
}

/** The progress of a store: plain JSON. Store it unchanged. */
export interface SyncState {
  version: 1
  /** The API address and a digest of the key. */
  source: { url: string; key: string }
  /** The account of the key, or its sandbox; absent in a state of an earlier client. */
  account?: { id: string; test: boolean }
  /** Only orders updated at this instant or later are synced; `null`: all. */
  since: string | null
  /** The greatest `updated_at` since the start of the last full sync. */
  watermark: string | null
  /** When the last full sync ended, by the clock of this machine. */
  walkedAt: string | null
  /** Orders received by the last full sync; absent in a state of an earlier client. */
  walkedOrders?: number
  /** The current run, or the last one. */
  pass: SyncRun
}

/** One reading of the listing, from its first page to its last. */
export interface SyncRun {
  /** 1, 2, 3, …: the argument of `deleteUnseen`. */
  number: number
  /** `all`: a full sync, after which unseen orders are deleted. `changes`: from `updatedGte` on. */
  kind: 'all' | 'changes'
  updatedGte: string | null
  /** Orders received so far, over all calls; absent in a state of an earlier client. */
  received?: number
  /** The cursor of the next page; `null` before the first. */
  cursor: string | null
  /** `listed`: every page is saved. `done`: unseen orders are deleted too. */
  reached: 'listing' | 'listed' | 'done'
}

export interface MemoryStore extends Required<SyncStore> {
  /** The orders by `id`. */
  orders: ReadonlyMap<string, Order>
}

/** A store in memory, for few orders and for tests. */
export function createMemoryStore(): MemoryStore {
  const orders = new Map<string, Order>()
  const seenIn = new Map<string, number>()
  let saved: SyncState | null = null

  const unseenBefore = (run: number) =>
    [...orders.keys()].filter((id) => (seenIn.get(id) ?? 0) < run)

  return {
    orders,
    async read() {
      return saved
    },
    async save(page, state) {
      for (const order of page) {
        orders.set(order.id, order)
        seenIn.set(order.id, state.pass.number)
      }
      saved = structuredClone(state)
    },
    async deleteUnseen(run) {
      const unseen = unseenBefore(run)
      for (const id of unseen) {
        orders.delete(id)
        seenIn.delete(id)
      }
      return unseen.length
    },
    async countUnseen(run) {
      return { unseen: unseenBefore(run).length, total: orders.size }
    },
    async remove(id) {
      orders.delete(id)
      seenIn.delete(id)
    },
  }
}
