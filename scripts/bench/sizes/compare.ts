import { loadSecrets } from '../../../src/config/secrets.ts'
import { type CursorCodec, createCursorCodec } from '../../../src/orders/cursor.ts'
import { type Sort, sorts } from '../../../src/orders/order-store.ts'
import type { BenchContext } from '../context.ts'
import { createGenerator, type Generator } from '../measuring/generator.ts'
import { type Heat, type HeatResult, race, type Side } from '../measuring/race.ts'
import { checkBoth, type LoadedApi, withLoadedApi } from '../orders/loaded-api.ts'
import { issueKeys } from '../orders/pages.ts'
import { NO_FILTERS } from '../orders/searches.ts'
import { createSizedAccounts, type SizedAccounts } from '../orders/sized-accounts.ts'
import { pageRequest } from '../orders/walk.ts'
import { type Depth, type DepthCase, depthCases, depthNames } from './depths.ts'

export interface SizesComparison {
  /** Ascending. */
  sizes: readonly number[]
  seconds: number
  /** Of all searches since the index was there. */
  queryCacheHits: number
  /** A heat for each sort and depth; its sides are the raw search and the API for each size. */
  results: HeatResult[]
}

export const heatName = (sort: Sort, depth: Depth) => `${sort.replace(/_at_.*/, '')} ${depth}`
export const sideName = (who: 'raw' | 'api', size: number) => `${who} ${size}`

const SMALLEST = 1_000
const TIMES = 10
/** There are so many samples that each is short, and a median of hundreds of pages needs no more. */
const SHARE_OF_SECONDS = 0.25
const TOLD_EVERY = 100_000

/** 1,000 orders, ten times as many, and so on; the largest is as large as is asked for. */
export function sizesUpTo(largest: number): number[] {
  const sizes: number[] = []
  for (let size = SMALLEST; size < largest; size *= TIMES) sizes.push(size)
  return [...sizes, largest]
}

/**
 * What a page costs at each depth of accounts of each size, all in one index: one request at a time, so that
 * its time is its own and not that of a queue.
 */
export async function compareSizes(context: BenchContext): Promise<SizesComparison> {
  const { cluster, openSearch, options, signal, log } = context
  const sizes = sizesUpTo(options.largest)
  const sized = createSizedAccounts(sizes, Date.now())
  const cursors = createCursorCodec(loadSecrets(context.config).cursorSecrets)
  log(`loading ${sized.count} orders of ${sizes.length} accounts …`)
  return await withLoadedApi(context, told(sized, log), async (loaded) => {
    const raw = createGenerator(openSearch, 1)
    const own = createGenerator({ origins: [loaded.api.origin] }, 1)
    try {
      const heats = await prepareHeats(context, { ...loaded, sized, cursors, raw, own })
      const seconds = Math.max(1, Math.round(SHARE_OF_SECONDS * options.seconds))
      const { rounds } = options
      const results = await race(heats, { rounds, seconds, readCpu: loaded.readCpu, signal, log })
      const queryCacheHits = await cluster.queryCacheHits(loaded.index)
      return { sizes, seconds, queryCacheHits, results }
    } finally {
      await Promise.all([raw.close(), own.close()])
    }
  })
}

function* told({ count, bulkLines }: SizedAccounts, log: BenchContext['log']) {
  let loaded = 0
  for (const lines of bulkLines()) {
    yield lines
    loaded += 1
    if (loaded % TOLD_EVERY === 0) log(`${loaded} of ${count} orders`)
  }
}

interface Asking extends LoadedApi {
  sized: SizedAccounts
  /** Walking to a place through the API would take ten thousand pages; a cursor that is sealed here is the same. */
  cursors: CursorCodec
  raw: Generator
  own: Generator
}

async function prepareHeats(context: BenchContext, asking: Asking): Promise<Heat[]> {
  const { accounts } = asking.sized
  const sides = new Map<string, Side[]>(
    sorts.flatMap((sort) => depthNames.map((depth) => [heatName(sort, depth), []])),
  )
  for (const account of accounts) {
    context.log(`checking pages of ${account.size} orders`)
    const mark = await asking.services.orders.latestWrite(account.id)
    const cases = depthCases(account, mark)
    const key = (await issueKeys(cases, asking.services)).get(account.id) ?? ''
    for (const one of cases) {
      const both = await prepareSides(context, { ...asking, key }, one)
      sides.get(heatName(one.sort, one.depth))?.push(...both)
    }
  }
  return [...sides].map(([name, those]) => ({ name, sides: those }))
}

async function prepareSides(
  context: BenchContext,
  { index, cursors, raw, own, key }: Asking & { key: string },
  one: DepthCase,
): Promise<Side[]> {
  const { account, sort, limit } = one
  const listing = { accountId: account.id, sort, filters: NO_FILTERS }
  const pages = one.states.map((state) => {
    const cursor = state && cursors.seal(listing, state)
    return pageRequest({ key, sort, limit, cursor })
  })
  const asked = await checkBoth(context, { of: one, index, raw, own, pages })
  return [
    { name: sideName('raw', account.size), generator: raw, requests: asked.raw },
    { name: sideName('api', account.size), generator: own, requests: asked.api },
  ]
}
