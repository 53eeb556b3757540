import { describe, expect, it } from 'vitest'
import {
  createMemoryStore,
  MassRemovalError,
  type SyncState,
  type SyncStore,
} from '../../../../src/client/client.ts'
import { finishRun } from '../../../../src/client/sync/finish-run.ts'
import { syncState } from '../../../support/orders-cli/sync-state.ts'

const NOW_MS = Date.parse('2026-03-10T12:00:00.000Z')
const listed = syncState({ number: 2, reached: 'listed' })

/** Ends a full sync whose pages are saved, and returns the outcome and what was saved then. */
async function finish(countUnseen: SyncStore['countUnseen']) {
  const saved: SyncState[] = []
  const store = { ...createMemoryStore(), ...(countUnseen && { countUnseen }) }
  store.save = async (_orders, state) => void saved.push(state)
  const options = { store, allowMassRemoval: false, nowMs: () => NOW_MS }
  const error = await finishRun(listed, options).catch((thrown: unknown) => thrown)
  return { error, reached: saved.map(({ pass }) => pass.reached) }
}

describe('the end of a full sync', () => {
  it('keeps its pages when the store cannot count, so that the next sync only ends it', async () => {
    const failure = new Error('canceling statement due to statement timeout')
    expect(await finish(() => Promise.reject(failure))).toEqual({ error: failure, reached: [] })
  })

  it('reads all orders again after it refused to delete most of them', async () => {
    const { error, reached } = await finish(async () => ({ unseen: 900, total: 1_000 }))
    expect(error).toBeInstanceOf(MassRemovalError)
    expect(reached).toEqual(['listing'])
  })
})
