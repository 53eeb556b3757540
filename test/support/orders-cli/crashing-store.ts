import type { Order, SyncState, SyncStore } from '../../../src/client/client.ts'
import type { Random } from '../../../src/demo/random.ts'

/** The simulated crash of a process. */
export class CrashError extends Error {}

export interface CrashingStore extends Required<Omit<SyncStore, 'countUnseen' | 'remove'>> {
  orders: ReadonlyMap<string, Order>
}

/**
 * A store whose process crashes at random: before a save, after it, or between the orders and the
 * state. `onSave` runs before each save.
 */
export function createCrashingStore(random: Random, onSave: () => Promise<void>): CrashingStore {
  const orders = new Map<string, Order>()
  const seenIn = new Map<string, number>()
  let saved: SyncState | null = null
  const maybeCrash = () => {
    if (random.chance(0.1)) throw new CrashError()
  }

  return {
    orders,
    read: async () => structuredClone(saved),
    async save(page, state) {
      await onSave()
      maybeCrash()
      for (const order of page) {
        orders.set(order.id, order)
        seenIn.set(order.id, state.pass.number)
      }
      maybeCrash()
      saved = structuredClone(state)
      maybeCrash()
    },
    async deleteUnseen(run) {
      maybeCrash()
      const unseen = [...orders.keys()].filter((id) => (seenIn.get(id) ?? 0) < run)
      for (const id of unseen) orders.delete(id)
      maybeCrash()
      return unseen.length
    },
  }
}
