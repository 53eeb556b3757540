import type { OrderCopy, SyncState } from './copy.ts'
import type { Order } from './schema.ts'

export interface MemoryCopy extends Required<OrderCopy> {
  /** The orders by their `id`. */
  orders: ReadonlyMap<string, Order>
}

/** A copy that lasts as long as the process: for few orders and for tests. */
export function createMemoryCopy(): MemoryCopy {
  const orders = new Map<string, Order>()
  const seenIn = new Map<string, number>()
  let kept: SyncState | null = null

  const unseenBefore = (pass: number) =>
    [...orders.keys()].filter((id) => (seenIn.get(id) ?? 0) < pass)

  return {
    orders,
    async read() {
      return kept
    },
    async save(page, state) {
      for (const order of page) {
        orders.set(order.id, order)
        seenIn.set(order.id, state.pass.number)
      }
      kept = structuredClone(state)
    },
    async dropUnseen(pass) {
      const gone = unseenBefore(pass)
      for (const id of gone) {
        orders.delete(id)
        seenIn.delete(id)
      }
      return gone.length
    },
    async countUnseen(pass) {
      return { unseen: unseenBefore(pass).length, total: orders.size }
    },
  }
}
