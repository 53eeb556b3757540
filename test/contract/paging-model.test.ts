import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRandom, type Random } from '../../src/demo/random.ts'
import type { OrderFilters, OrderStore, Sort } from '../../src/orders/order-store.ts'
import { type Listing, type PagerState, readPage } from '../../src/orders/paging.ts'
import { createWorld, type Row, type World } from '../support/world.ts'
import { type StoreUnderTest, stores } from './stores.ts'

const WALKS = 400
/** After so many looks at the store nobody writes any more: under endless writing a walk may not end. */
const DISTURBED_LOOKS = 40
const MAX_PAGES = 1_000

const everything: OrderFilters = { statuses: [], paymentMethods: [], created: {}, updated: {} }
const paid: OrderFilters = { ...everything, statuses: ['PAID'] }

describe.each(stores)('a listing on %s', (_name, open) => {
  let store: StoreUnderTest
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())

  async function populatedWorld(random: Random, reader: string): Promise<World> {
    const world = await createWorld(random, reader, store.openIndex)
    await world.churn(random.between(0, 60))
    return world
  }

  it('by updated_at skips no order and ends with every order in its newest form', async () => {
    for (let seed = 1; seed <= WALKS; seed++) {
      const random = createRandom(seed, 1, 0)
      const reader = `acc_updated_${seed}`
      const world = await populatedWorld(random, reader)
      const filters = random.chance(0.3) ? paid : everything
      const listing: Listing = { accountId: reader, sort: 'updated_at_asc', filters }

      const rows = await walk(disturbed(store.orders, world, random), listing, random)

      const copy = new Map(rows.map((row) => [row.id, row]))
      const shown = [...world.truth(filters).keys()].map((id) => copy.get(id))
      expect(shown, `seed ${seed}`).toEqual([...world.truth(filters).values()])
    }
  })

  it('by created_at repeats nothing, skips nothing and shows nothing created meanwhile', async () => {
    for (let seed = 1; seed <= WALKS; seed++) {
      const random = createRandom(seed, 2, 0)
      const reader = `acc_created_${seed}`
      const world = await populatedWorld(random, reader)
      const filters = random.chance(0.3) ? paid : everything
      const listing: Listing = { accountId: reader, sort: 'created_at_desc', filters }
      const bornBefore = new Set(world.born)
      let listedAllAlong = new Set(world.truth(filters).keys())
      const watch = () => {
        listedAllAlong = listedAllAlong.intersection(world.truth(filters))
      }

      const ids = (await walk(disturbed(store.orders, world, random, watch), listing, random)).map(
        ({ id }) => id,
      )

      expect(ids, `seed ${seed}`).toEqual([...new Set(ids)])
      expect(
        [...listedAllAlong].filter((id) => !ids.includes(id)),
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
      for (let seed = 1; seed <= WALKS / 4; seed++) {
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

/** The store, with changes written before every look at it. */
function disturbed(
  orders: OrderStore,
  world: World,
  random: Random,
  watch: () => void = () => {},
): OrderStore {
  let looks = 0
  async function disturb() {
    // The first look is the listing's beginning; what is there then is what must be kept.
    if (looks++ === 0 || looks > DISTURBED_LOOKS) return
    for (let burst = random.between(0, 3); burst > 0; burst--) {
      await world.churn(random.between(1, 3))
      watch()
    }
  }
  return {
    get: orders.get,
    async slice(query) {
      await disturb()
      return orders.slice(query)
    },
    async latestWrite(accountId) {
      await disturb()
      return orders.latestWrite(accountId)
    },
  }
}

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

function rowOf(json: Uint8Array): Row {
  const { id, amount_total, updated_at } = JSON.parse(Buffer.from(json).toString())
  return { id, content: amount_total, filled: updated_at !== null }
}
