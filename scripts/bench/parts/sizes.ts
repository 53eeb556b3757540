import { loadSecrets } from '../../../src/config/secrets.ts'
import type { PagerState } from '../../../src/orders/cursor.ts'
import { createCursorCodec } from '../../../src/orders/cursor.ts'
import { type Position, type Sort, sorts } from '../../../src/orders/order-store.ts'
import { createClosedLoop } from '../measuring/closed-loop.ts'
import { median, medianRatio } from '../measuring/figures.ts'
import { closedLoopContender, type Result, raceLoops } from '../measuring/race.ts'
import { startApi } from '../measuring/service.ts'
import { type Place, shortSort } from '../orders/cases.ts'
import { checkedRequests, issueKeys, pageIds, pageRequest, rawSearches } from '../orders/pages.ts'
import { NO_FILTERS } from '../orders/searches.ts'
import {
  createSizedAccounts,
  type SizedAccount,
  type SizedListing,
} from '../orders/sized-accounts.ts'
import { fillServiceIndex } from '../orders/stores.ts'
import type { Part, PartReport } from '../part.ts'
import * as compare from '../reporting/comparison.ts'
import { formatAll, formatRatio, renderTable } from '../reporting/table.ts'

/** Shares of a listing, from its first page on. */
export const depths = { first: 0, '1%': 0.01, '25%': 0.25, '50%': 0.5, '99%': 0.99 } as const
export type Depth = keyof typeof depths
export const depthNames = Object.keys(depths) as Depth[]
const DEEPEST = '99%'

const SMALLEST = 1_000
const GROWTH = 10
/** Each sample is short, since there are many, and a median needs hundreds of pages only. */
const SHARE_OF_SECONDS = 0.25
const LIMIT = 20
/** More than OpenSearch remembers before it caches a filter, which hardly ever repeats in production. */
const PLACES = 300
/** The share of a listing over which the pages of one depth are spread. */
const SPAN = 0.01
/** A full page, and the row that shows whether another page follows. */
const FOLLOWING = LIMIT + 1
const LEGEND = `first, 1% …: the depth of the page in the account's listing; columns: orders of the account; ÷: the API's p50 by that of a smaller
account, and that of the deepest page by that of the first`

export const scenarioName = (sort: Sort, depth: Depth) => `${shortSort(sort)} ${depth}`

/** 1,000 orders, ten times as many, and so on, up to the largest. */
export function sizesUpTo(largest: number): number[] {
  const sizes: number[] = []
  for (let size = SMALLEST; size < largest; size *= GROWTH) sizes.push(size)
  return [...sizes, largest]
}

/**
 * A page's cost at each depth of accounts of each size, all in one index. One request at a time, so a
 * latency includes no queue.
 */
export const sizesPart: Part = {
  name: 'sizes',
  about: "a page's cost by the size of the account and by depth",
  async measure(context, scope) {
    const { cluster, openSearch, options, log } = context
    const sizes = sizesUpTo(options.largest)
    const { accounts, bulkLines } = createSizedAccounts(sizes, Date.now())
    const { index, services } = await fillServiceIndex(context, scope, bulkLines())
    const server = scope.use(await startApi(context.settings))
    const raw = scope.use(createClosedLoop(openSearch, 1))
    const own = scope.use(createClosedLoop({ origins: [server.origin] }, 1))
    // Walking to the places would need ten thousand pages; a sealed cursor is the same as a walked one.
    const codec = createCursorCodec(loadSecrets(context.config).cursorSecrets)
    const seconds = Math.max(1, Math.round(SHARE_OF_SECONDS * options.seconds))
    const prepared = []
    for (const account of accounts) {
      log(`checking pages of ${account.size} orders`)
      const cases = depthCases(account, await services.orders.latestWrite(account.id))
      const key = (await issueKeys(cases, services)).get(account.id) ?? ''
      const pagesOf = ({ sort, states }: DepthCase) => {
        const listing = { accountId: account.id, sort, filters: NO_FILTERS }
        const cursors = states.map((state) => state && codec.seal(listing, state))
        return cursors.map((cursor) => pageRequest({ key, sort, limit: LIMIT, cursor }))
      }
      const api = { name: 'api', loop: own, requestsOf: pagesOf, extraRows: 0, readIds: pageIds }
      for (const of of cases) {
        const searches = await checkedRequests(
          context,
          rawSearches(context, { index, loop: raw }),
          of,
        )
        const pages = await checkedRequests(context, api, of)
        const name = scenarioName(of.sort, of.depth)
        const plans = [
          { name: `raw ${account.size}`, loop: raw, requests: searches, seconds },
          { name: `api ${account.size}`, loop: own, requests: pages, server, seconds },
        ]
        prepared.push({ name, contenders: plans.map((plan) => closedLoopContender(context, plan)) })
      }
    }
    const scenarios = [...Map.groupBy(prepared, ({ name }) => name)].map(([name, those]) => {
      return { name, contenders: those.flatMap(({ contenders }) => contenders) }
    })
    const results = await raceLoops(scenarios, context)
    return reportSizes({
      sizes,
      seconds,
      queryCacheHits: await cluster.queryCacheHits(index),
      results,
    })
  },
}

/** Pages of an account at about the same depth of its listing. */
interface DepthCase {
  name: string
  sort: Sort
  depth: Depth
  limit: number
  places: readonly Place[]
  /** The state in the cursor of each page; null for the first page. */
  states: readonly (PagerState | null)[]
}

/** The pages of an account at each depth of both sorts; `mark` is the account's latest write. */
export function depthCases(account: SizedAccount, mark: Position | null): DepthCase[] {
  return sorts.flatMap((sort) => {
    const listing = account.listing(sort)
    return depthNames.map((depth): DepthCase => {
      const places = rowsBefore(account.size, depth).map((rows): Place => {
        const after = rows === 0 ? null : listing.at(rows - 1)
        const following = Array.from({ length: FOLLOWING }, (_, at) => listing.at(rows + at).id)
        return { accountId: account.id, sort, rowsBefore: rows, after, following }
      })
      const states = places.map(({ after }) => after && stateAfter(after, sort, listing, mark))
      const name = `${scenarioName(sort, depth)}, of ${account.size}`
      return { name, sort, depth, limit: LIMIT, places, states }
    })
  })
}

/**
 * How many orders precede each page. In a short listing the pages of a depth begin earlier, so that
 * every page is full and another one follows.
 */
export function rowsBefore(size: number, depth: Depth): number[] {
  if (depth === 'first') return [0]
  const step = Math.max(1, Math.floor((size * SPAN) / PLACES))
  const last = size - FOLLOWING - (PLACES - 1) * step
  const first = Math.min(Math.floor(size * depths[depth]), last)
  return Array.from({ length: PLACES }, (_, at) => first + at * step)
}

/** The state of a client that paged here from the start, without concurrent writes. */
function stateAfter(
  after: Position,
  sort: Sort,
  { lastDated }: SizedListing,
  mark: Position | null,
): PagerState {
  if (sort === 'created_at_desc') return { after, dated: null, mark: null, nextMark: null }
  const isUndated = lastDated !== null && after.key > lastDated.key
  return isUndated
    ? { after, dated: lastDated, mark: null, nextMark: mark }
    : { after, dated: after, mark: null, nextMark: null }
}

export interface SizesComparison {
  /** Ascending. */
  sizes: readonly number[]
  seconds: number
  queryCacheHits: number
  /** A scenario for each sort and depth, with the contenders `raw` and `api` for each size. */
  results: readonly Result[]
}

export function reportSizes({
  sizes,
  seconds,
  queryCacheHits,
  results,
}: SizesComparison): PartReport {
  const largest = sizes.at(-1) ?? 0
  const smaller = [...new Set([sizes[0] ?? 0, sizes.at(-2) ?? 0])]
  const growths = smaller.map((size) => {
    const ratio = { of: `api ${largest}`, per: `api ${size}`, figure: compare.figure.p50 }
    return { title: `${largest}÷${size}`, ratio }
  })
  const deepening = (sort: Sort) => {
    const [deepest, first] = ([DEEPEST, 'first'] as const).map((depth) =>
      results.find(({ name }) => name === scenarioName(sort, depth)),
    )
    return sizes.map((size) => {
      const p50s = (of?: Result) =>
        of ? compare.valuesOf(of, `api ${size}`, compare.figure.p50) : []
      return medianRatio(p50s(deepest), p50s(first))
    })
  }
  // The worst of all depths, and of all sizes.
  const costs = sorts.flatMap((sort) => [
    ...growths.map(({ title, ratio }) => {
      const all = results.filter(({ name }) => name.startsWith(shortSort(sort)))
      const worst = Math.max(...all.map((result) => compare.ratioOf(result, ratio)))
      return [`p50 ${title} ${shortSort(sort)}, any depth`, worst]
    }),
    [`p50 ${DEEPEST}÷first ${shortSort(sort)}, any size`, Math.max(...deepening(sort))],
  ])
  const times = [
    ...sizes.map((size) =>
      compare.figureColumn(`${size}`, [`raw ${size}`, `api ${size}`], compare.figure.p50),
    ),
    ...growths.map(({ title, ratio }) => compare.ratioColumn(title, ratio)),
  ]
  const cpu = sizes.map((size): compare.Column => {
    const { openSearchCpu, apiCpu } = compare.figure
    const medianOf = (result: Result) => (of: typeof apiCpu) =>
      median(compare.valuesOf(result, `api ${size}`, of))
    const cell = (result: Result) => formatAll([openSearchCpu, apiCpu].map(medianOf(result)))
    return { title: `${size}`, cell }
  })
  const deepened = sorts.map((sort) => [
    `${scenarioName(sort, DEEPEST)} ÷ first`,
    ...deepening(sort).map(formatRatio),
  ])
  const table = [
    `Pages of ${LIMIT} by the account's size and by depth, one request at a time; ${seconds} s each`,
    compare.renderResults('p50 ms, raw/api', times, results),
    renderTable(['p50 of the API', ...sizes.map(String)], deepened),
    compare.renderResults('CPU µs a page, OpenSearch/API', cpu, results),
    `${LEGEND}\nhits in the query cache, which has none in production: ${queryCacheHits}`,
  ].join('\n\n')
  const recorded = Object.fromEntries(costs)
  const figures = { sizes, seconds, queryCacheHits, costs: recorded }
  return {
    tables: [table],
    figures: { ...figures, results: results.map((result) => compare.figuresOf(result)) },
    costs: recorded,
    failures: results.flatMap(compare.failuresOf),
  }
}
