import { afterAll, beforeAll, expect, it } from 'vitest'
import { byEffort } from '../support/effort.ts'
import { openTroubledStores, type TroubledStores } from '../support/simulation/failing-stores.ts'
import { createLiveReaders } from '../support/simulation/live-readers.ts'
import { opensearch } from '../support/stores/backend.ts'

const WALKS = byEffort(80, 240)
/** Minimum number of occurrences of each failure. */
const TIMES = byEffort(2, 3)

let troubled: TroubledStores
beforeAll(async () => {
  troubled = await openTroubledStores()
})
afterAll(() => troubled.close())

it('the cluster has two nodes with a copy of every order on both', async () => {
  const health = await opensearch<{ number_of_data_nodes: number; active_shards: number }>(
    'GET',
    `_cluster/health/${troubled.backend.env['INDEX_PREFIX']}orders-v1?wait_for_active_shards=2`,
  )
  expect(health).toMatchObject({ number_of_data_nodes: 2, active_shards: 2 })
})

/**
 * Failing writers write orders continuously, and the engine refreshes.
 * Pagers list the orders continuously in both sorts.
 */
it('listings skip no order despite every failure of the writers', async () => {
  const { backend, stores, writers } = troubled
  const { refresh } = backend
  const readers = await createLiveReaders({ orders: stores.orders, writers, refresh })
  await readers.run(
    () =>
      readers.walks() >= WALKS && Object.values(writers.failures).every((times) => times >= TIMES),
  )
  console.info(`${readers.walks()} walks`, writers.failures)

  await readers.settle()
  await writers.close()
  await refresh()
  await readers.expectExact()
})
