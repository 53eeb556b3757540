import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseConfig } from '../../src/config.ts'
import { createRandom, type Random } from '../../src/demo/random.ts'
import type { OrderFilters } from '../../src/orders/order-store.ts'
import { type Listing, type PagerState, readPage } from '../../src/orders/paging.ts'
import { openOpenSearchStores } from '../../src/stores/opensearch/stores.ts'
import type { Stores } from '../../src/stores/stores.ts'
import { type Backend, createBackend, opensearch } from '../support/backend.ts'
import { forgetGone, type Row, rowOf } from '../support/rows.ts'
import { createTroubledWriters, type TroubledWriters } from '../support/troubled-writers.ts'
import { createWorld, type World } from '../support/world.ts'

const WALKS = 240
const READERS = 4
const PAGERS_A_READER = 4
const FIRST_CHANGES = 400
const BETWEEN_PAGES_MS = 60
const LEASE_MS = 500
/** Each trouble comes at least so often. */
const TIMES = 3

const everything: OrderFilters = { statuses: [], paymentMethods: [], created: {}, updated: {} }

let backend: Backend
let stores: Stores
let writers: TroubledWriters
beforeAll(async () => {
  backend = createBackend()
  const urls = (backend.env['OPENSEARCH_URL'] ?? '').split(',')
  const config = parseConfig({ ...backend.env, WRITER_LEASE_MS: String(LEASE_MS) })
  stores = openOpenSearchStores({ urls }, config)
  await stores.prepare()
  writers = createTroubledWriters({
    ports: urls.map((url) => Number(new URL(url).port)),
    open(port, clock) {
      const behind = openOpenSearchStores({ urls: [`http://127.0.0.1:${port}`] }, config)
      return behind.openIndex({ clock })
    },
    async fillDisk(forMs) {
      const block = (on: true | null) =>
        opensearch('PUT', `${config.indexPrefix}orders-v1/_settings`, {
          'index.blocks.read_only_allow_delete': on,
        })
      await block(true)
      setTimeout(() => block(null), forMs)
    },
  })
})
afterAll(async () => {
  await stores.close()
  await backend.remove()
})

it('runs on two nodes, with a copy of every order on both', async () => {
  const health = await opensearch<{ number_of_data_nodes: number; active_shards: number }>(
    'GET',
    `_cluster/health/${backend.env['INDEX_PREFIX']}orders-v1?wait_for_active_shards=2`,
  )
  expect(health).toMatchObject({ number_of_data_nodes: 2, active_shards: 2 })
})

/**
 * Orders are written without a pause by writers to whom everything happens that can happen, and become
 * visible when the engine refreshes; pagers list them without a pause, in both sorts.
 */
it('no listing skips an order, whatever happens to the writers', async () => {
  const done = new AbortController()
  const readers = Array.from({ length: READERS }, (_, n) => startReader(n))
  for (const reader of readers) await reader.populate()
  const pagers = readers.flatMap((reader) =>
    Array.from({ length: PAGERS_A_READER }, (_, n) =>
      reader.page(createRandom(n, reader.number, 1)),
    ),
  )
  const working = Promise.all(
    readers.map((reader) => reader.work(createRandom(1, reader.number, 2))),
  )
  let walks = 0

  function startReader(number: number) {
    const accountId = `acc_live_${number}`
    const world: World = createWorld(createRandom(2, number, 3), accountId, writers)
    /** What may not be missing from a listing that goes on, or begins, now. */
    let visible = new Map<string, Row>()
    const expectations = new Set([visible])
    world.onWrite(() => {
      const truth = world.truth(everything)
      for (const expected of expectations) forgetGone(expected, truth)
    })

    async function look(): Promise<void> {
      const written = world.truth(everything)
      expectations.add(written)
      await backend.refresh()
      expectations.delete(visible)
      visible = written
    }

    return {
      number,
      async populate() {
        await world.populate(FIRST_CHANGES)
        await look()
      },
      async work(random: Random) {
        while (!done.signal.aborted) {
          await world.churn(random.between(1, 6))
          if (random.chance(0.1)) await look()
          if (random.chance(0.1)) await pause(random.between(0, 200))
        }
      },
      async page(random: Random) {
        while (!done.signal.aborted) {
          const sort = random.pick(['updated_at_asc', 'updated_at_asc', 'created_at_desc'] as const)
          const atFirst = new Map(visible)
          expectations.add(atFirst)
          const listing: Listing = { accountId, sort, filters: everything }
          const rows: Row[] = []
          let atLast = new Map<string, Row>()
          let state: PagerState | null = null
          do {
            await pause(random.between(0, BETWEEN_PAGES_MS))
            expectations.delete(atLast)
            atLast = new Map(visible)
            expectations.add(atLast)
            const page = await readPage(stores.orders, listing, state, random.between(1, 8))
            rows.push(...page.rows.map(({ json }) => rowOf(json)))
            state = page.next
          } while (state !== null)
          walks++

          const copy = new Map(rows.map((row) => [row.id, row]))
          const told = `walk ${walks} of ${accountId} by ${sort}`
          if (sort === 'created_at_desc') {
            expect(rows.length, told).toBe(copy.size)
            expect(
              [...atFirst.keys()].filter((id) => !copy.has(id)),
              told,
            ).toEqual([])
          } else {
            const behind = [...atLast.values()].filter(({ id, content, filled }) => {
              const shown = copy.get(id)
              return shown === undefined || shown.content < content || (filled && !shown.filled)
            })
            expect(behind, told).toEqual([])
          }
          expectations.delete(atFirst)
          expectations.delete(atLast)
        }
      },
    }
  }

  const enough = (async () => {
    const isEnough = () =>
      walks >= WALKS && Object.values(writers.troubles).every((times) => times >= TIMES)
    while (!isEnough()) await pause(50)
  })()
  try {
    await Promise.race([Promise.all([...pagers, working]), enough])
  } finally {
    done.abort()
    await Promise.allSettled([...pagers, working])
    await writers.close()
  }
  console.info(`${walks} walks`, writers.troubles)
})
