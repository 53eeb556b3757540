import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { byEffort } from '../support/effort.ts'
import { openTroubledStores, type TroubledStores } from '../support/simulation/failing-stores.ts'
import { createLiveReaders, pagesOf } from '../support/simulation/live-readers.ts'
import { opensearch } from '../support/stores/backend.ts'

/** For each number of shards. */
const WALKS = byEffort(40, 120)
/** Minimum number of occurrences of each failure. */
const TIMES = byEffort(1, 3)

describe.each([1, 3])('with %d shards', (shards) => {
  let troubled: TroubledStores
  beforeAll(async () => {
    troubled = await openTroubledStores(shards)
  })
  afterAll(() => troubled.close())

  it('the cluster has two nodes with a copy of every order on both', async () => {
    const health = await opensearch<{ number_of_data_nodes: number; active_shards: number }>(
      'GET',
      `_cluster/health/${troubled.backend.env['INDEX_PREFIX']}orders-v1?wait_for_active_shards=all`,
    )
    expect(health).toMatchObject({ number_of_data_nodes: 2, active_shards: 2 * shards })
  })

  /**
   * Failing writers write orders continuously, and the engine refreshes.
   * Pagers list the orders continuously in both sorts.
   */
  it('listings skip no order despite every failure of the writers', async () => {
    const { backend, stores, writers } = troubled
    const { refresh } = backend
    const { orders } = stores
    const readPage = pagesOf(orders)
    const readers = await createLiveReaders({ readPage, orders, writers, refresh })
    await readers.run(
      () =>
        readers.walks() >= WALKS &&
        Object.values(writers.failures).every((times) => times >= TIMES),
    )
    console.info(`${readers.walks()} walks`, writers.failures)

    await readers.settle()
    await writers.close()
    await refresh()
    await readers.expectExact()
  })
})
