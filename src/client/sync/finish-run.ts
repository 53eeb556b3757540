import { MassRemovalError } from '../errors.ts'
import { restarted } from './sync-run.ts'
import type { SyncState, SyncStore } from './sync-store.ts'

/** A store of at most this many orders may lose most of them. */
const SMALL_STORE = 20

export interface FinishOptions {
  store: SyncStore
  allowMassRemoval: boolean
  /** Epoch milliseconds. */
  nowMs(): number
}

/**
 * Ends a run whose pages are all saved: a full sync deletes the orders that it did not receive.
 * @throws MassRemovalError before anything is deleted
 */
export async function finishRun(
  state: SyncState,
  { store, allowMassRemoval, nowMs }: FinishOptions,
): Promise<{ state: SyncState; dropped: number }> {
  const { kind, number, received } = state.pass
  if (kind === 'changes') return { state: await saveFinished(store, state), dropped: 0 }
  if (store.deleteUnseen !== undefined && !allowMassRemoval) {
    await assertNoMassRemoval(store, state).catch(async (error) => {
      // The orders may be back by the next sync. After another error, the pages are still saved.
      if (error instanceof MassRemovalError) await store.save([], restarted(state))
      throw error
    })
  }
  const dropped = (await store.deleteUnseen?.(number)) ?? 0
  const walkedAt = new Date(nowMs()).toISOString()
  const walked = { ...state, walkedAt, ...(received !== undefined && { walkedOrders: received }) }
  return { state: await saveFinished(store, walked), dropped }
}

/**
 * Rejects a full sync that would delete more than half of the store, because a lost or half-loaded
 * index returns the same result.
 * @throws MassRemovalError
 */
async function assertNoMassRemoval(store: SyncStore, state: SyncState): Promise<void> {
  const { unseen, total } = (await store.countUnseen?.(state.pass.number)) ?? estimate(state)
  if (total > SMALL_STORE && unseen > total / 2) throw new MassRemovalError({ unseen, total })
}

/** Compares the last two full syncs; an order that changed during one of them counts twice. */
function estimate({ walkedOrders, pass: run }: SyncState): { unseen: number; total: number } {
  if (walkedOrders === undefined || run.received === undefined) return { unseen: 0, total: 0 }
  return { unseen: Math.max(0, walkedOrders - run.received), total: walkedOrders }
}

async function saveFinished(store: SyncStore, state: SyncState): Promise<SyncState> {
  const finished: SyncState = { ...state, pass: { ...state.pass, reached: 'done' } }
  await store.save([], finished)
  return finished
}
