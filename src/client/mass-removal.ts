import type { OrderCopy, SyncState } from './copy.ts'
import { MassRemovalError } from './errors.ts'

/** A copy of so few may well lose most of them. */
const FEW_ORDERS = 20

/**
 * Refuses to let a walk over everything take more than half of a copy away: that is what a service looks like whose
 * index was lost and is empty, or half loaded.
 * @throws MassRemovalError
 */
export async function expectNoMassRemoval(store: OrderCopy, state: SyncState): Promise<void> {
  const { unseen, total } = (await store.countUnseen?.(state.pass.number)) ?? estimate(state)
  if (total > FEW_ORDERS && unseen > total / 2) throw new MassRemovalError({ unseen, total })
}

/** By what two walks over everything were given; an order that changed during one is in its number twice. */
function estimate({ walkedOrders, pass }: SyncState): { unseen: number; total: number } {
  if (walkedOrders === undefined || pass.received === undefined) return { unseen: 0, total: 0 }
  return { unseen: Math.max(0, walkedOrders - pass.received), total: walkedOrders }
}
