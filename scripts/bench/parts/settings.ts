import { ordersDefinition } from '../../../src/stores/opensearch/index-definition.ts'
import { documentId } from '../../../src/stores/opensearch/order-document.ts'
import type { BenchContext } from '../context.ts'
import { type ClosedLoop, createClosedLoop } from '../measuring/closed-loop.ts'
import { summarize } from '../measuring/figures.ts'
import { closedLoopContender, type Result, raceLoops, type Scenario } from '../measuring/race.ts'
import type { LoadRequest } from '../measuring/request.ts'
import type { Case } from '../orders/cases.ts'
import { checkedRequests, pageScenarios, rawSearches } from '../orders/pages.ts'
import { recordSearches } from '../orders/searches.ts'
import { loadDocuments, warmUpLoading } from '../orders/stores.ts'
import type { Part } from '../part.ts'
import { failuresOf, figure } from '../reporting/comparison.ts'
import { formatFigure, renderTable } from '../reporting/table.ts'
import {
  type Indices,
  indexSources,
  loadVariants,
  readIndices,
  renderIndices,
  renderTimes,
  timesOf,
} from './index-variants.ts'
import { AS_DEFINED, definitionWith, indexVariants, variantsFor } from './settings-indices.ts'
import { AS_THE_SERVICE, searchVariants } from './settings-searches.ts'

/** These show the effect on a page, a larger one, the other sort and an account of few orders. */
const CASES = ['large created 20', 'large created 100', 'large updated 20', 'small created 20']
/** Few enough that each is measured soon after the first. */
const BESIDE_THE_FIRST = 4
const CONCURRENCY = [8, 64]
const SOCKETS = [2, 4, 8, 16, 64]
const PROBE = { accountId: 'acc_probe', orderId: 'ord_probe' }
/** A program that parses and renders this JSON changes its bytes. */
const PROBE_ORDER = String.raw`{ "id" : "ord_probe", "name" : "\u0041na", "rate" : 1.0e2 }`

/** Settings of a search, an index and its connections, against those of the service. */
export const settingsPart: Part = {
  name: 'settings',
  about: 'alternative settings of a search, an index and its connections',
  async measure(context, scope) {
    const { cluster, openSearch, options, orders } = context
    const cases = context.cases.filter(({ name }) => CASES.includes(name))
    const loop = scope.use(createClosedLoop(openSearch, options.connections))
    await warmUpLoading(context, orders.count)
    const variants = variantsFor((await cluster.version()).nodes).map((name) => {
      const { segments = 1, ...variant } = indexVariants[name] ?? {}
      const merged = segments === 'as filled' ? {} : { segments }
      return { name, definition: definitionWith(variant), ...merged }
    })
    const loaded = await loadVariants(context, 'settings', variants)
    const index = loaded.find(({ name }) => name === AS_DEFINED)?.index ?? ''
    const own = rawSearches(context, { index, loop })
    const ways = Object.entries(searchVariants).map(([name, { change, readIds = own.readIds }]) => {
      const requestsOf = async (of: Case) => (await own.requestsOf(of)).map(change)
      return { ...own, name, readIds, requestsOf }
    })
    const searches = await pageScenarios(context, cases, ways)
    const sources = indexSources(context, loaded, loop)
    const indices = await pageScenarios(context, cases, sources)
    const asWritten = await probeSources(context, loop)
    const [first] = cases
    const requests = first ? await checkedRequests(context, own, first) : []
    return reportSettings({
      searches: await raceLoops(searches.flatMap(inSmallScenarios), context),
      asWritten,
      indices: await raceLoops(indices.flatMap(inSmallScenarios), context),
      loaded: await readIndices(context, loaded),
      sockets: await raceLoops(socketScenarios(context, requests, scope), context),
    })
  },
}

/** Splits a scenario into several, each with the first contender, which the others are compared with. */
export function inSmallScenarios<S>({ name, contenders }: Scenario<S>): Scenario<S>[] {
  const [first, ...others] = contenders
  if (first === undefined) return []
  const count = Math.ceil(others.length / BESIDE_THE_FIRST)
  return Array.from({ length: count }, (_, at) => {
    const from = at * BESIDE_THE_FIRST
    return { name, contenders: [first, ...others.slice(from, from + BESIDE_THE_FIRST)] }
  })
}

/** Connections for each number of concurrent requests: surplus connections would stay idle. */
export function socketPlans(): { concurrency: number; sockets: number[] }[] {
  return CONCURRENCY.map((concurrency) => {
    return { concurrency, sockets: SOCKETS.filter((sockets) => sockets <= concurrency) }
  })
}

function socketScenarios(
  context: BenchContext,
  requests: readonly LoadRequest[],
  scope: AsyncDisposableStack,
) {
  return socketPlans().map(({ concurrency, sockets }) => {
    const contenders = sockets.map((count) => {
      const loop = scope.use(createClosedLoop(context.openSearch, concurrency, count))
      return closedLoopContender(context, { name: `${count}`, loop, requests })
    })
    return { name: `${concurrency} at a time`, contenders }
  })
}

/**
 * Which searches return a source byte for byte. It uses its own index, so the measured indices
 * get no further segment.
 */
async function probeSources(
  { cluster, openSearch: { urls }, prefix, signal }: BenchContext,
  loop: ClosedLoop,
): Promise<Record<string, boolean>> {
  const { accountId, orderId } = PROBE
  const index = `${prefix}settings-probe`
  const keys = { account_id: accountId, id: orderId, created_key: 1, updated_key: 1 }
  const action = { index: { _id: documentId(PROBE), routing: accountId } }
  const source = `${JSON.stringify(keys).slice(0, -1)},"order":${PROBE_ORDER}}`
  const lines = [`${JSON.stringify(action)}\n${source}\n`].values()
  await cluster.create(index, ordersDefinition)
  await loadDocuments(lines, { client: cluster.client, index, signal })
  await cluster.refresh(index)
  const place = { accountId, sort: 'created_at_desc', rowsBefore: 0 } as const
  const places = [{ ...place, after: { key: 2, id: '' }, following: [orderId] }]
  const [request] = await recordSearches({ urls, index, places, limit: 1 })
  if (request === undefined) throw new Error('the store sent no search for the probe')
  const probed = Object.entries(searchVariants).map(async ([name, { change }]) => {
    const response = await loop.fetch(change(request))
    return [name, response.includes(PROBE_ORDER)]
  })
  return Object.fromEntries(await Promise.all(probed))
}

export interface SettingsComparison {
  /** The same pages by different searches, all in the index that the service defines. */
  searches: readonly Result[]
  /** Which of these searches return a source byte for byte. */
  asWritten: Readonly<Record<string, boolean>>
  /** The service's own searches, each contender with its own index. */
  indices: readonly Result[]
  loaded: Indices
  /** The service's own searches over so many connections. */
  sockets: readonly Result[]
}

export function reportSettings(comparison: SettingsComparison) {
  const { searches, asWritten, indices, loaded, sockets } = comparison
  const written = Object.entries(asWritten).map(([name, same]) => {
    return [name, same ? 'as written' : 'changed']
  })
  const socketFigures = (result: Result) => timesOf(result, Object.keys(result.samples)[0] ?? '')
  return {
    tables: [
      [
        `Searches for the same page; ×: times that of "${AS_THE_SERVICE}"`,
        ...renderTimes(searches, AS_THE_SERVICE),
        renderTable(['the order is returned', ''], written),
      ].join('\n\n'),
      [
        `Variants of the same index; ×: times that of "${AS_DEFINED}"`,
        ...renderTimes(indices, AS_DEFINED),
        renderIndices(loaded, AS_DEFINED),
      ].join('\n\n'),
      ['Connections to OpenSearch, first case', ...sockets.map(renderSockets)].join('\n\n'),
    ],
    figures: {
      searches: searches.map((result) => timesOf(result, AS_THE_SERVICE)),
      indices: indices.map((result) => timesOf(result, AS_DEFINED)),
      sockets: sockets.map(socketFigures),
      asWritten,
      loaded,
    },
    failures: [...searches, ...indices, ...sockets].flatMap(failuresOf),
  }
}

function renderSockets({ name, samples }: Result): string {
  const columns = {
    'OpenSearch µs': figure.openSearchCpu,
    'pages/s': figure.perSecond,
    'p50 ms': figure.p50,
    'p99 ms': figure.p99,
  }
  const rows = Object.entries(samples).map(([sockets, taken]) => {
    const of = summarize(taken)
    return [sockets, ...Object.values(columns).map((column) => formatFigure(column(of)))]
  })
  return renderTable([`connections, ${name}`, ...Object.keys(columns)], rows)
}
