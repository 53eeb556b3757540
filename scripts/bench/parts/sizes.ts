import { type Sort, sorts } from '../../../src/orders/order-store.ts'
import { medianRatio, sum } from '../../../test/harness/statistics.ts'
import type { Part } from '../context.ts'
import { createLoadClient } from '../measuring/load.ts'
import { race, type Scenario } from '../measuring/race.ts'
import { type Case, placesOf, shortSort } from '../orders/cases.ts'
import { type Account, createOrders } from '../orders/orders.ts'
import { accessTo, openService, pageScenarios, rawSearches } from '../orders/pages.ts'
import { fillServiceIndex } from '../orders/stores.ts'
import { type Ratios, type Result, ratioOf, valuesOf } from '../report.ts'

/** Shares of a listing, from its first page on. */
const depths = { first: 0, '1%': 0.01, '25%': 0.25, '50%': 0.5, '99%': 0.99 } as const

const SMALLEST = 1_000
const GROWTH = 10
/** Each sample is short, since there are many, and a median needs hundreds of pages only. */
const SHARE_OF_SECONDS = 0.25
const LIMIT = 20
/**
 * Full pages, which another page follows. They are more than OpenSearch remembers before it caches
 * a filter, which hardly ever repeats in production.
 */
const SPREAD = { span: 0.01, count: 300, following: LIMIT + 1 }

/** 1,000 orders, ten times as many, and so on, up to the largest. */
export function sizesUpTo(largest: number): number[] {
  const sizes: number[] = []
  for (let size = SMALLEST; size < largest; size *= GROWTH) sizes.push(size)
  return [...sizes, largest]
}

/**
 * Accounts that fill the index up to `total` orders, at most as large as the largest measured one.
 */
export function otherSizes(measured: readonly number[], total: number): number[] {
  const largest = measured.at(-1) ?? SMALLEST
  const others: number[] = []
  for (let left = total - sum(measured); left > 0; left -= largest) {
    others.push(Math.min(left, largest))
  }
  return others
}

/**
 * A page's cost at each depth of accounts of each size, all in one index. One request at a time, so
 * a latency includes no queue.
 */
export const sizesPart: Part = {
  name: 'sizes',
  about: "a page's cost by the size of the account and by depth",
  async measure(shared, scope) {
    const { options, settings } = shared
    const sizes = sizesUpTo(options.largest)
    const named = { ...Object.fromEntries(sizes.map((size) => [`of_${size}`, size])) }
    for (const [at, size] of otherSizes(sizes, options.orders).entries())
      named[`other_${at}`] = size
    const seconds = Math.max(1, Math.round(SHARE_OF_SECONDS * options.seconds))
    const context = {
      ...shared,
      orders: createOrders(named, Date.now()),
      options: { ...options, seconds, connections: 1 },
    }
    const { index, services } = await fillServiceIndex(context, scope)
    const measured = context.orders.accounts.slice(0, sizes.length)
    const ids = measured.map(({ id }) => id)
    const access = await accessTo(ids, services)
    const service = await openService(context, { name: 'api', settings, access }, scope)
    const client = scope.use(createLoadClient(context.openSearch))
    const scenarios: Scenario[] = []
    for (const account of measured) {
      const raw = rawSearches(context, { name: `raw ${account.size}`, index, client })
      const api = { ...service, name: `api ${account.size}` }
      scenarios.push(...(await pageScenarios(context, depthCases(account), [raw, api])))
    }
    const byDepth = [...Map.groupBy(scenarios, ({ name }) => name)].map(([name, those]) => {
      return { name, contenders: those.flatMap(({ contenders }) => contenders) }
    })
    const results = await race(byDepth, context)
    const { count } = context.orders
    const title = `Pages of ${LIMIT} by depth and by the account's size, one request at a time; ${seconds} s each; ${count} orders, shards: ${options.shards}`
    return {
      sections: [{ title, results, base: `api ${SMALLEST}` }],
      recorded: { costs: sizeCosts(sizes, results) },
    }
  },
}

/** The pages of an account at each depth of both sorts. */
export function depthCases(account: Account): Case[] {
  return sorts.flatMap((sort) =>
    Object.entries(depths).map(([name, depth]) => {
      const places = placesOf(account, sort, { ...SPREAD, depth })
      return { name: scenarioName(sort, name), limit: LIMIT, places }
    }),
  )
}

const scenarioName = (sort: Sort, depth: string) => `${shortSort(sort)} ${depth}`

/**
 * The API's p50 of the largest account by that of smaller ones, and that of the deepest page by
 * that of the first: the worst of all depths, and of all sizes. First pages, which most clients
 * read, are also compared alone. The last cost is the API's share of that growth: how much more of
 * the raw search a page of the largest account costs than one of the smallest. `sizes` is
 * ascending.
 */
export function sizeCosts(sizes: readonly number[], results: readonly Result[]): Ratios {
  const [smallest = 0, largest = 0] = [sizes[0], sizes.at(-1)]
  const figure = 'p50Ms'
  const costs = sorts.flatMap((sort) => {
    const ofSort = results.filter(({ name }) => name.startsWith(shortSort(sort)))
    const growths = [smallest, sizes.at(-2)].map((size): [string, number] => {
      const ratio = { of: `api ${largest}`, per: `api ${size}`, figure } as const
      const worst = Math.max(...ofSort.map((result) => ratioOf(result, ratio)))
      return [`p50 ${largest}÷${size} ${shortSort(sort)}, any depth`, worst]
    })
    const p50sAt = (depth: string, size: number) => {
      const found = ofSort.find(({ name }) => name === scenarioName(sort, depth))
      return found ? valuesOf(found, `api ${size}`, figure) : []
    }
    const overRaw = (size: number) => {
      const ratio = { of: `api ${size}`, per: `raw ${size}`, figure } as const
      return ofSort.map((result) => ratioOf(result, ratio))
    }
    const [grown, from] = [overRaw(largest), overRaw(smallest)]
    const added = Math.max(...grown.map((ratio, at) => ratio / (from[at] ?? Number.NaN)))
    const firstPages = medianRatio(p50sAt('first', largest), p50sAt('first', smallest))
    const deepened = sizes.map((size) => medianRatio(p50sAt('99%', size), p50sAt('first', size)))
    return [
      ...growths,
      [`p50 ${largest}÷${smallest} ${shortSort(sort)}, first page`, firstPages],
      [`p50 99%÷first ${shortSort(sort)}, any size`, Math.max(...deepened)],
      [`p50 api÷raw ${largest}÷${smallest} ${shortSort(sort)}, any depth`, added],
    ]
  })
  return Object.fromEntries(costs)
}
