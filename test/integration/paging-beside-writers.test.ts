import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseConfig } from '../../src/config.ts'
import { createRandom, type Random } from '../../src/demo/random.ts'
import type { OrderFilters } from '../../src/orders/order-store.ts'
import { type Listing, type PagerState, readPage } from '../../src/orders/paging.ts'
import { openOpenSearchStores } from '../../src/stores/opensearch/stores.ts'
import type { Stores } from '../../src/stores/stores.ts'
import { type Backend, createBackend, opensearch } from '../support/backend.ts'
import { type Row, rowOf } from '../support/rows.ts'
import { createTroubledWriters, type TroubledWriters } from '../support/troubled-writers.ts'
import { createWatch, type Watch } from '../support/watch.ts'
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
  const config = parseConfig({ ...backend.env, WRITER_LEASE_MS: String(LEASE_MS) })
  const urls = config.opensearchUrls ?? []
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
  const readers = await Promise.all(Array.from({ length: READERS }, (_, n) => populate(n)))
  const done = new AbortController()
  let walks = 0

  async function change({ number, world, watch }: Reader): Promise<void> {
    const random = createRandom(1, number, 2)
    while (!done.signal.aborted) {
      await world.churn(random.between(1, 6))
      if (random.chance(0.1)) await watch.look()
      if (random.chance(0.1)) await pause(random.between(0, 200))
    }
  }
  async function page(reader: Reader, seed: number): Promise<void> {
    const random = createRandom(seed, reader.number, 1)
    while (!done.signal.aborted) {
      await walk(reader, random)
      walks++
    }
  }
  const isEnough = () =>
    walks >= WALKS && Object.values(writers.troubles).every((times) => times >= TIMES)

  const working = readers.flatMap((reader) => [
    change(reader),
    ...Array.from({ length: PAGERS_A_READER }, (_, seed) => page(reader, seed)),
  ])
  const ended = Promise.race(working)
  try {
    while (!isEnough()) await Promise.race([ended, pause(50)])
  } finally {
    done.abort()
    await Promise.allSettled(working)
  }
  console.info(`${walks} walks`, writers.troubles)

  for (const { world } of readers) await world.settle()
  await writers.close()
  await backend.refresh()
  for (const reader of readers) await expectExact(reader)
})

interface Reader {
  number: number
  accountId: string
  world: World
  watch: Watch
}

async function populate(number: number): Promise<Reader> {
  const accountId = `acc_live_${number}`
  const world = createWorld(createRandom(2, number, 3), accountId, writers)
  const watch = createWatch(world, backend.refresh)
  await world.populate(FIRST_CHANGES)
  await watch.look()
  return { number, accountId, world, watch }
}

/** In the end both listings show what there is: all of it, nothing that is gone, in the order of the sort. */
async function expectExact({ accountId, world }: Reader): Promise<void> {
  const truth = [...world.truth(everything).values()]
  const byId = (one: Row, other: Row) => (one.id < other.id ? -1 : 1)
  for (const sort of ['created_at_desc', 'updated_at_asc'] as const) {
    const listing: Listing = { accountId, sort, filters: everything }
    const { rows } = await readPage(stores.orders, listing, null, 5_000)
    expect(rows.map(({ json }) => rowOf(json)).sort(byId)).toEqual(truth.sort(byId))
    const keys = rows.map(({ key }) => (sort === 'created_at_desc' ? -key : key))
    expect(keys).toEqual(keys.toSorted((one, other) => one - other))
  }
}

/** Lists the account once, and holds the guarantee of the sort against what was listed. */
async function walk({ accountId, watch }: Reader, random: Random): Promise<void> {
  const sort = random.pick(['updated_at_asc', 'updated_at_asc', 'created_at_desc'] as const)
  const listing: Listing = { accountId, sort, filters: everything }
  const atFirst = watch.expected()
  let atLast = atFirst
  const rows: Row[] = []
  let state: PagerState | null = null
  do {
    await pause(random.between(0, BETWEEN_PAGES_MS))
    if (atLast !== atFirst) watch.release(atLast)
    atLast = watch.expected()
    const page = await readPage(stores.orders, listing, state, random.between(1, 8))
    rows.push(...page.rows.map(({ json }) => rowOf(json)))
    state = page.next
  } while (state !== null)

  const listed = new Map(rows.map((row) => [row.id, row]))
  if (sort === 'created_at_desc') {
    expect(rows.map(({ id }) => id)).toEqual([...listed.keys()])
    expect([...atFirst.keys()].filter((id) => !listed.has(id))).toEqual([])
  } else {
    const behind = [...atLast.values()].filter(({ id, content, filled }) => {
      const shown = listed.get(id)
      return shown === undefined || shown.content < content || (filled && !shown.filled)
    })
    expect(behind).toEqual([])
  }
  watch.release(atFirst)
  watch.release(atLast)
}
