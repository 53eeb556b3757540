import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Reindexing } from '../../src/indexing/reindexing.ts'
import { Unavailable } from '../../src/lib/errors/unavailable.ts'
import { byEffort } from '../support/effort.ts'
import { openTroubledStores, type TroubledStores } from '../support/simulation/failing-stores.ts'
import { createLiveReaders, pagesOf } from '../support/simulation/live-readers.ts'
import { opensearch } from '../support/stores/backend.ts'

const WALKS = byEffort(60, 120)
/** Number of reindexes that finish, and of those that roll back. */
const TIMES = byEffort(1, 2)

let troubled: TroubledStores
beforeAll(async () => {
  troubled = await openTroubledStores()
})
afterAll(() => troubled.close())

/** Retries, as an operator would, after a full disk or a replaced writer. */
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
    await insistently(() => reindexing.build({ shards: 3 }))
    await insistently(() => reindexing.rollBack())
    await insistently(() => reindexing.build({ shards: time % 2 === 0 ? 3 : 1 }))
    await insistently(() => reindexing.finish())
  }
}

/** Pagers and failing writers during repeated reindexes, which change the number of shards. */
it('listings skip and repeat no order during reindexes', async () => {
  const { backend, stores, writers } = troubled
  // Refreshes the live index only: a new index must be as fresh by itself.
  const refresh = async () => {
    await opensearch('POST', `${backend.env['INDEX_PREFIX']}orders/_refresh`)
  }
  const { orders, reindexing } = stores
  if (reindexing === null) throw new Error('expected stores that can be reindexed')
  const readers = await createLiveReaders({
    readPage: pagesOf(orders),
    orders,
    writers,
    refresh,
  })

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
