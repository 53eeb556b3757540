import type { Order, OrderCopy, SyncState } from '../../../src/client/client.ts'
import type { Random } from '../../../src/demo/random.ts'

/** Its process died. */
export class Died extends Error {}

export interface MortalCopy extends Required<Omit<OrderCopy, 'countUnseen'>> {
  orders: ReadonlyMap<string, Order>
}

/**
 * A copy whose process dies now and then: before it has kept something, after, or with the orders kept and the
 * state not. `onSave` runs before each.
 */
export function createMortalCopy(random: Random, onSave: () => Promise<void>): MortalCopy {
  const orders = new Map<string, Order>()
  const seenIn = new Map<string, number>()
  let kept: SyncState | null = null
  const perhapsDie = () => {
    if (random.chance(0.1)) throw new Died()
  }

  return {
    orders,
    read: async () => structuredClone(kept),
    async save(page, state) {
      await onSave()
      perhapsDie()
      for (const order of page) {
        orders.set(order.id, order)
        seenIn.set(order.id, state.pass.number)
      }
      perhapsDie()
      kept = structuredClone(state)
      perhapsDie()
    },
    async dropUnseen(pass) {
      perhapsDie()
      const gone = [...orders.keys()].filter((id) => (seenIn.get(id) ?? 0) < pass)
      for (const id of gone) orders.delete(id)
      perhapsDie()
      return gone.length
    },
  }
}
