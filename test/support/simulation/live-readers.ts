import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { createRandom, type Random } from '../../../src/demo/random.ts'
import type { Listing, PagerState } from '../../../src/orders/cursor.ts'
import { noFilters, type OrderFilters } from '../../../src/orders/filters/filters.ts'
import type { OrderStore } from '../../../src/orders/order-store.ts'
import { readPage } from '../../../src/orders/paging.ts'
import type { AlternatingWriters } from './alternating-writers.ts'
import { type Row, rowOf } from './rows.ts'
import { createSimulation, type Simulation } from './simulation.ts'
import { createVisibilityTracker, type VisibilityTracker } from './visibility.ts'

const READERS = 4
const PAGERS_A_READER = 4
const FIRST_CHANGES = 400
const BETWEEN_PAGES_MS = 60

const everything: OrderFilters = noFilters

/** The accounts whose orders are written and listed. */
export const liveAccounts = Array.from({ length: READERS }, (_, number) => `acc_live_${number}`)

/** Reads pages in this process. */
export function pagesOf(orders: OrderStore): ReadPage<PagerState> {
  return async (listing, state, limit) => {
    const page = await readPage(orders, { ...listing, filters: everything }, state, limit)
    return { rows: page.rows.map(({ json }) => rowOf(json)), next: page.next }
  }
}

/** A page of an account's orders; `state` is that of the page before, and `null` for the first. */
export type ReadPage<State> = (
  listing: Pick<Listing, 'accountId' | 'sort'>,
  state: State | null,
  limit: number,
) => Promise<{ rows: Row[]; next: State | null }>

export interface LiveReadersOptions<State> {
  /** The accounts are `liveAccounts`. */
  readPage: ReadPage<State>
  /** For the final check, which reads a whole listing at once. */
  orders: OrderStore
  writers: AlternatingWriters
  /** Makes all writes visible. */
  refresh(): Promise<void>
}

/**
 * Accounts whose orders are written continuously, and pagers that list them continuously, in both
 * sorts. Every listing is checked against the guarantee of its sort.
 */
export async function createLiveReaders<State>(options: LiveReadersOptions<State>) {
  const { orders, writers, refresh } = options
  const readers = await Promise.all(liveAccounts.map(populate))
  let walks = 0

  async function populate(accountId: string, number: number): Promise<Reader> {
    const simulation = createSimulation(createRandom(2, number, 3), accountId, writers)
    const watch = createVisibilityTracker(simulation, refresh)
    await simulation.populate(FIRST_CHANGES)
    await watch.refresh()
    return { number, accountId, simulation, watch }
  }

  /** Finally, both listings return exactly the existing orders, in the order of the sort. */
  async function expectExact({ accountId, simulation }: Reader): Promise<void> {
    const truth = [...simulation.truth(everything).values()]
    const byId = (one: Row, other: Row) => (one.id < other.id ? -1 : 1)
    for (const sort of ['created_at_desc', 'updated_at_asc'] as const) {
      const listing: Listing = { accountId, sort, filters: everything }
      const { rows } = await readPage(orders, listing, null, 5_000)
      expect(rows.map(({ json }) => rowOf(json)).sort(byId)).toEqual(truth.sort(byId))
      const keys = rows.map(({ key }) => (sort === 'created_at_desc' ? -key : key))
      expect(keys).toEqual(keys.toSorted((one, other) => one - other))
    }
  }

  /** Lists the account once, and checks the result against the guarantee of the sort. */
  async function walk({ accountId, watch }: Reader, random: Random): Promise<void> {
    const sort = random.pick(['updated_at_asc', 'updated_at_asc', 'created_at_desc'] as const)
    const atFirst = watch.expected()
    let atLast = atFirst
    const rows: Row[] = []
    let state: State | null = null
    do {
      await pause(random.between(0, BETWEEN_PAGES_MS))
      if (atLast !== atFirst) watch.release(atLast)
      atLast = watch.expected()
      const page = await options.readPage({ accountId, sort }, state, random.between(1, 8))
      rows.push(...page.rows)
      state = page.next
    } while (state !== null)

    const listed = new Map(rows.map((row) => [row.id, row]))
    if (sort === 'created_at_desc') {
      expect(rows.map(({ id }) => id)).toEqual([...listed.keys()])
      expect([...atFirst.keys()].filter((id) => !listed.has(id))).toEqual([])
    } else {
      const behind = [...atLast.values()].filter(({ id, content, hasUpdatedAt }) => {
        const returned = listed.get(id)
        return (
          returned === undefined ||
          returned.content < content ||
          (hasUpdatedAt && !returned.hasUpdatedAt)
        )
      })
      expect(behind).toEqual([])
    }
    watch.release(atFirst)
    watch.release(atLast)
  }

  async function change({ number, simulation, watch }: Reader, done: AbortSignal): Promise<void> {
    const random = createRandom(1, number, 2)
    while (!done.aborted) {
      await simulation.churn(random.between(1, 6))
      if (random.chance(0.1)) await watch.refresh()
      if (random.chance(0.1)) await pause(random.between(0, 200))
    }
  }

  async function page(reader: Reader, seed: number, done: AbortSignal): Promise<void> {
    const random = createRandom(seed, reader.number, 1)
    while (!done.aborted) {
      await walk(reader, random)
      walks++
    }
  }

  return {
    /** The number of listings that were checked against their guarantee. */
    walks: () => walks,

    /** Runs until `isEnough()`; throws at the first listing that breaks its guarantee. */
    async run(isEnough: () => boolean): Promise<void> {
      const done = new AbortController()
      const working = readers.flatMap((reader) => [
        change(reader, done.signal),
        ...Array.from({ length: PAGERS_A_READER }, (_, seed) => page(reader, seed, done.signal)),
      ])
      const ended = Promise.race(working)
      try {
        while (!isEnough()) await Promise.race([ended, pause(50)])
      } finally {
        done.abort()
        await Promise.allSettled(working)
      }
    },

    /** Runs until all pending changes are written. */
    async settle(): Promise<void> {
      for (const { simulation } of readers) await simulation.settle()
    },

    /** Checks both listings against all writes. */
    async expectExact(): Promise<void> {
      for (const reader of readers) await expectExact(reader)
    },
  }
}

interface Reader {
  number: number
  accountId: string
  simulation: Simulation
  watch: VisibilityTracker
}
