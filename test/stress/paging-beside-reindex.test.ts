import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Reindexing } from '../../src/indexing/reindexing.ts'
import { Unavailable } from '../../src/lib/unavailable.ts'
import { byEffort } from '../support/effort.ts'
import { openTroubledStores, type TroubledStores } from '../support/simulation/failing-stores.ts'
import { createLiveReaders } from '../support/simulation/live-readers.ts'
import { opensearch } from '../support/stores/backend.ts'

const WALKS = byEffort(60, 120)
/** The index is replaced so often, and as often it is after all not. */
const TIMES = byEffort(1, 2)

let troubled: TroubledStores
beforeAll(async () => {
  troubled = await openTroubledStores()
})
afterAll(() => troubled.close())

/** Tries again what a full disk or a writer that was replaced made fail, as an operator does. */
async function insistently<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const passes = error instanceof Unavailable || (error as Error).name === 'LeaseLostError'
      if (!passes || attempt === 20) throw error
    }
  }
}

async function reindexAgainAndAgain(reindexing: Reindexing): Promise<void> {
  for (let time = 0; time < TIMES; time++) {
    await insistently(() => reindexing.build())
    await insistently(() => reindexing.rollBack())
    await insistently(() => reindexing.build())
    await insistently(() => reindexing.finish())
  }
}

/** The same pagers and troubled writers, while the index under them is replaced again and again. */
it('no listing skips or repeats an order while the index is made anew', async () => {
  const { backend, stores, writers } = troubled
  // Of what is read alone: an index that is about to be read has to show as much by itself.
  const refresh = async () => {
    await opensearch('POST', `${backend.env['INDEX_PREFIX']}orders/_refresh`)
  }
  const { orders, reindexing } = stores
  if (reindexing === null) throw new Error('expected stores that can be reindexed')
  const readers = await createLiveReaders({ orders, writers, refresh })

  let isReplaced = false
  const replacing = reindexAgainAndAgain(reindexing).finally(() => {
    isReplaced = true
  })
  await Promise.all([replacing, readers.run(() => isReplaced && readers.walks() >= WALKS)])
  console.info(`${readers.walks()} walks`, writers.failures)

  await readers.settle()
  await writers.close()
  await refresh()
  await readers.expectExact()
  const indices = await opensearch<object>('GET', `${backend.env['INDEX_PREFIX']}orders-v*`)
  expect(Object.keys(indices)).toEqual([`${backend.env['INDEX_PREFIX']}orders-v${1 + TIMES}`])
}, 300_000)
