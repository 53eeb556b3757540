import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRandom, type Random } from '../../src/demo/random.ts'
import type { OrderFilters } from '../../src/orders/filters.ts'
import type { OrderStore, Sort } from '../../src/orders/order-store.ts'
import { type Listing, type PagerState, readPage } from '../../src/orders/paging.ts'
import { byEffort } from '../support/effort.ts'
import {
  type AlternatingWriters,
  createAlternatingWriters,
} from '../support/simulation/alternating-writers.ts'
import { deleteMissing, type Row, rowOf } from '../support/simulation/rows.ts'
import { createSimulation, type Simulation } from '../support/simulation/simulation.ts'
import { onServices } from '../support/stores/backend.ts'
import { type StoresUnderTest, stores } from './stores-under-test.ts'

/** On a cluster a write costs a hundred times what it costs embedded. */
const { walks, disturbedReads, handover } = onServices
  ? { walks: byEffort(40, 200), disturbedReads: 25, handover: 0.02 }
  : { walks: byEffort(120, 400), disturbedReads: 40, handover: 0.5 }
const MAX_PAGES = 1_000

const everything: OrderFilters = { statuses: [], paymentMethods: [], created: {}, updated: {} }
const paid: OrderFilters = { ...everything, statuses: ['PAID'] }

describe.each(stores)('a listing on %s', (_name, open) => {
  let store: StoresUnderTest
  let turns: AlternatingWriters
  beforeAll(async () => {
    store = await open()
    turns = createAlternatingWriters(store.openIndex, handover)
  })
  afterAll(async () => {
    await turns.close()
    await store.close()
  })

  async function populatedWorld(random: Random, reader: string): Promise<Simulation> {
    const world = createSimulation(random, reader, turns)
    await world.churn(random.between(0, onServices ? 20 : 60))
    await store.refresh()
    return world
  }

  /**
   * The store, with changes written before every look at it. After so many looks nobody writes any more:
   * under endless writing a walk may not end. `onRefresh`: all that was written up to now can be seen.
   */
  function withConcurrentWrites(
    world: Simulation,
    random: Random,
    onRefresh: () => void,
  ): OrderStore {
    let reads = 0
    async function writeBeforeRead() {
      // The first look is the listing's beginning; what is there then is what must be kept.
      if (reads++ === 0 || reads > disturbedReads) return
      for (let burst = random.between(0, 3); burst > 0; burst--) {
        await world.churn(random.between(1, 3))
        if (onServices && random.chance(0.5)) continue // Seen at the next refresh, or by the engine's own.
        await store.refresh()
        onRefresh()
      }
    }
    return {
      get: store.orders.get,
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

  it('by updated_at skips no order and ends with every order in its newest form', async () => {
    for (let seed = 1; seed <= walks; seed++) {
      const random = createRandom(seed, 1, 0)
      const reader = `acc_updated_${seed}`
      const world = await populatedWorld(random, reader)
      const filters = random.chance(0.3) ? paid : everything
      const listing: Listing = { accountId: reader, sort: 'updated_at_asc', filters }
      let visible = world.truth(filters)
      world.onWrite(() => deleteMissing(visible, world.truth(filters)))
      const orders = withConcurrentWrites(world, random, () => {
        visible = world.truth(filters)
      })

      const rows = await walk(orders, listing, random)

      const copy = new Map(rows.map((row) => [row.id, row]))
      const truth = world.truth(filters)
      for (const [id, { content, hasUpdatedAt }] of visible) {
        // Never behind what could be seen, and never ahead of what was written.
        const shown = copy.get(id)
        expect(shown?.content, `seed ${seed} ${id}`).toBeGreaterThanOrEqual(content)
        expect(shown?.content, `seed ${seed} ${id}`).toBeLessThanOrEqual(
          truth.get(id)?.content ?? 0,
        )
        if (hasUpdatedAt) expect(shown?.hasUpdatedAt, `seed ${seed} ${id}`).toBe(true)
      }
      if (onServices) continue
      // What is written is seen at once there, so the end shows it all.
      const shown = [...truth.keys()].map((id) => copy.get(id))
      expect(shown, `seed ${seed}`).toEqual([...truth.values()])
    }
  })

  it('by created_at repeats nothing, skips nothing and shows nothing created meanwhile', async () => {
    for (let seed = 1; seed <= walks; seed++) {
      const random = createRandom(seed, 2, 0)
      const reader = `acc_created_${seed}`
      const world = await populatedWorld(random, reader)
      const filters = random.chance(0.3) ? paid : everything
      const listing: Listing = { accountId: reader, sort: 'created_at_desc', filters }
      const bornBefore = new Set(world.born)
      const listedAllAlong = world.truth(filters)
      world.onWrite(() => deleteMissing(listedAllAlong, world.truth(filters)))

      const orders = withConcurrentWrites(world, random, () => {})
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
    'by %s that nobody writes to never repeats a row, however fresh',
    async (sort: Sort) => {
      for (let seed = 1; seed <= walks / 4; seed++) {
        const random = createRandom(seed, 3, 0)
        const reader = `acc_quiet_${sort}_${seed}`
        const world = await populatedWorld(random, reader)
        const listing: Listing = { accountId: reader, sort, filters: everything }

        const ids = (await walk(store.orders, listing, random)).map(({ id }) => id)

        expect(ids, `seed ${seed}`).toEqual([...new Set(ids)])
        expect(new Set(ids)).toEqual(new Set(world.truth(everything).keys()))
      }
    },
  )
})

/** All rows of a listing, in pages of every size. */
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
