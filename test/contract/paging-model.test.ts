import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRandom, type Random } from '../../src/demo/random.ts'
import type { Listing, PagerState } from '../../src/orders/cursor.ts'
import { noFilters, type OrderFilters } from '../../src/orders/filters/filters.ts'
import type { OrderStore, Sort } from '../../src/orders/order-store.ts'
import { readPage } from '../../src/orders/paging.ts'
import { byEffort } from '../support/effort.ts'
import {
  type AlternatingWriters,
  createAlternatingWriters,
} from '../support/simulation/alternating-writers.ts'
import { BUYER } from '../support/simulation/order-generator.ts'
import { deleteMissing, type Row, rowOf } from '../support/simulation/rows.ts'
import { createSimulation, type Simulation } from '../support/simulation/simulation.ts'
import { onServices } from '../support/stores/backend.ts'
import { type StoresUnderTest, useStoresByShards } from './stores-under-test.ts'

/** A cluster write costs a hundred times an embedded one, and the walks run with 1 and 3 shards. */
const { walks, disturbedReads, handover } = onServices
  ? { walks: byEffort(25, 150), disturbedReads: 25, handover: 0.02 }
  : { walks: byEffort(120, 400), disturbedReads: 40, handover: 0.5 }
const MAX_PAGES = 1_000

const everything: OrderFilters = noFilters
const paid: OrderFilters = { ...everything, statuses: ['PAID'] }
/** What a tool sends that always filters; it matches everything. */
const sinceEpoch: OrderFilters = { ...everything, updated: { gte: 0, orNull: true } }
const ofBuyer: OrderFilters = { ...everything, customerEmails: [BUYER] }
const someFilters = [
  everything,
  everything,
  everything,
  paid,
  paid,
  sinceEpoch,
  sinceEpoch,
  ofBuyer,
  ofBuyer,
] as const

describe.each(useStoresByShards())('a listing on %s', (_name, open) => {
  let store: StoresUnderTest
  let writers: AlternatingWriters
  beforeAll(async () => {
    store = await open()
    writers = createAlternatingWriters(store.openIndex, handover)
  })
  afterAll(async () => {
    await writers.close()
    await store.close()
  })

  async function createPopulated(random: Random, reader: string): Promise<Simulation> {
    const simulation = createSimulation(random, reader, writers)
    await simulation.churn(random.between(0, onServices ? 20 : 60))
    await store.refresh()
    return simulation
  }

  /**
   * The store, with changes written before every read. Writes end after `disturbedReads` reads,
   * because a listing may never end under endless writes. `onRefresh` runs when all writes so far
   * are visible.
   */
  function withConcurrentWrites(
    simulation: Simulation,
    random: Random,
    onRefresh: () => void,
  ): OrderStore {
    let reads = 0
    async function writeBeforeRead() {
      // The first read starts the listing; it must return what is visible at that time.
      if (reads++ === 0 || reads > disturbedReads) return
      for (let burst = random.between(0, 3); burst > 0; burst--) {
        await simulation.churn(random.between(1, 3))
        if (onServices && random.chance(0.5)) continue // Visible at the next refresh.
        await store.refresh()
        onRefresh()
      }
    }
    return {
      get: store.orders.get,
      getMany: store.orders.getMany,
      async findPage(query) {
        await writeBeforeRead()
        return store.orders.findPage(query)
      },
      async latestWrite(accountId) {
        await writeBeforeRead()
        return store.orders.latestWrite(accountId)
      },
    }
  }

  it('a listing by updated_at skips no order and ends with the newest content of every order', async () => {
    for (let seed = 1; seed <= walks; seed++) {
      const random = createRandom(seed, 1, 0)
      const reader = `acc_updated_${seed}`
      const simulation = await createPopulated(random, reader)
      const filters = random.pick(someFilters)
      const listing: Listing = { accountId: reader, sort: 'updated_at_asc', filters }
      let visible = simulation.truth(filters)
      simulation.onWrite(() => deleteMissing(visible, simulation.truth(filters)))
      const orders = withConcurrentWrites(simulation, random, () => {
        visible = simulation.truth(filters)
      })

      const rows = await walk(orders, listing, random)

      const received = new Map(rows.map((row) => [row.id, row]))
      const truth = simulation.truth(filters)
      for (const [id, { content, hasUpdatedAt }] of visible) {
        // The row is never older than the visible version, and never newer than the written one.
        const returned = received.get(id)
        expect(returned?.content, `seed ${seed} ${id}`).toBeGreaterThanOrEqual(content)
        expect(returned?.content, `seed ${seed} ${id}`).toBeLessThanOrEqual(
          truth.get(id)?.content ?? 0,
        )
        if (hasUpdatedAt) expect(returned?.hasUpdatedAt, `seed ${seed} ${id}`).toBe(true)
      }
      if (onServices) continue
      // The embedded store shows writes at once, so the listing must end with all of them.
      const returned = [...truth.keys()].map((id) => received.get(id))
      expect(returned, `seed ${seed}`).toEqual([...truth.values()])
    }
  })

  it('a listing by created_at repeats nothing, skips nothing and omits orders created meanwhile', async () => {
    for (let seed = 1; seed <= walks; seed++) {
      const random = createRandom(seed, 2, 0)
      const reader = `acc_created_${seed}`
      const simulation = await createPopulated(random, reader)
      const filters = random.pick([everything, everything, paid, ofBuyer])
      const listing: Listing = { accountId: reader, sort: 'created_at_desc', filters }
      const bornBefore = new Set(simulation.born)
      const listedAllAlong = simulation.truth(filters)
      simulation.onWrite(() => deleteMissing(listedAllAlong, simulation.truth(filters)))

      const orders = withConcurrentWrites(simulation, random, () => {})
      const ids = (await walk(orders, listing, random)).map(({ id }) => id)

      expect(ids, `seed ${seed}`).toEqual([...new Set(ids)])
      expect(
        [...listedAllAlong.keys()].filter((id) => !ids.includes(id)),
        `seed ${seed}`,
      ).toEqual([])
      expect(
        ids.filter((id) => !bornBefore.has(id)),
        `seed ${seed}`,
      ).toEqual([])
    }
  })

  it.each(['created_at_desc', 'updated_at_asc'] as const)(
    'a listing by %s without concurrent writes never repeats a row, however recent',
    async (sort: Sort) => {
      for (let seed = 1; seed <= walks / 4; seed++) {
        const random = createRandom(seed, 3, 0)
        const reader = `acc_quiet_${sort}_${seed}`
        const simulation = await createPopulated(random, reader)
        const listing: Listing = { accountId: reader, sort, filters: everything }

        const ids = (await walk(store.orders, listing, random)).map(({ id }) => id)

        expect(ids, `seed ${seed}`).toEqual([...new Set(ids)])
        expect(new Set(ids)).toEqual(new Set(simulation.truth(everything).keys()))
      }
    },
  )
})

/** Returns all rows of a listing, in pages of random size. */
async function walk(orders: OrderStore, listing: Listing, random: Random): Promise<Row[]> {
  const rows: Row[] = []
  let state: PagerState | null = null
  let pages = 0
  do {
    if (++pages > MAX_PAGES) throw new Error(`no end after ${MAX_PAGES} pages`)
    const page = await readPage(orders, listing, state, random.between(1, 7))
    rows.push(...page.rows.map(({ json }) => rowOf(json)))
    state = page.next
  } while (state !== null)
  return rows
}
