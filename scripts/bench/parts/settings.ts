import { setTimeout as sleep } from 'node:timers/promises'
import { ordersDefinition } from '../../../src/stores/opensearch/indices/index-definition.ts'
import type { BenchContext, Part } from '../context.ts'
import { CPU_RENEWAL_MS } from '../measuring/cpu.ts'
import { createLoadClient, type LoadClient, type LoadRequest } from '../measuring/load.ts'
import { loopContender, race, type Scenario } from '../measuring/race.ts'
import type { Case } from '../orders/cases.ts'
import { checkedRequests, pageScenarios, rawSearches } from '../orders/pages.ts'
import { loadDocuments } from '../orders/stores.ts'
import type { Result, Section } from '../report.ts'
import * as indices from './settings/indices.ts'
import { AS_THE_SERVICE, searchVariants } from './settings/searches.ts'

/** These show the effect on a page, a larger one, the other sort and an account of few orders. */
const CASES = ['large created 20', 'large created 100', 'large updated 20', 'small created 20']
/** Few enough that each is measured soon after the first. */
const BESIDE_THE_FIRST = 4
const CONCURRENCY = [8, 64]
const SOCKETS = [2, 4, 8, 16, 64]

/** The same orders and searches in indices of different sorts. */
export const definitionsPart: Part = {
  name: 'definitions',
  about: 'the index sort against alternatives',
  async measure(context, scope) {
    const { cases, cluster, openSearch, options } = context
    const client = scope.use(createLoadClient(openSearch, options.connections))
    const loaded = await loadVariants(context, 'definition', indices.sortVariants)
    const scenarios = await pageScenarios(context, cases, indexSources(context, loaded, client))
    const others = Object.keys(indices.sortVariants).filter((name) => name !== indices.BY_ACCOUNT)
    const ratios = others.map((per) => {
      const name = `OpenSearch CPU ${indices.BY_ACCOUNT}÷${per}`
      const costs = { figure: 'openSearchMicros', isCost: true } as const
      return { name, of: indices.BY_ACCOUNT, per, ...costs }
    })
    const sections: Section[] = []
    for (const state of options.states) {
      for (const { index } of state === 'merged' ? loaded : []) await cluster.merge(index)
      const results = await race(scenarios, context)
      const base = indices.BY_ACCOUNT
      const title = `Index definitions by their sort; the indices ${state}`
      sections.push(
        { title, results, base, ratios: state === 'filled' ? ratios : [] },
        { title: `The indices ${state}`, results: [await readIndices(context, loaded)], base },
      )
    }
    return { sections }
  },
}

/** Settings of a search, an index and its connections, against those of the service. */
export const settingsPart: Part = {
  name: 'settings',
  about: 'alternative settings of a search, an index and its connections',
  async measure(context, scope) {
    const { cluster, openSearch, options } = context
    const cases = context.cases.filter(({ name }) => CASES.includes(name))
    const client = scope.use(createLoadClient(openSearch, options.connections))
    const { nodes } = await cluster.version()
    const effective = Object.entries(indices.indexVariants).filter(
      ([, variant]) => (variant.nodes ?? 1) <= nodes,
    )
    const loaded = await loadVariants(context, 'settings', Object.fromEntries(effective))
    const index = loaded.find(({ name }) => name === indices.AS_DEFINED)?.index ?? ''
    const own = rawSearches(context, { index, client })
    const ways = Object.entries(searchVariants).map(([name, { change, readIds = own.readIds }]) => {
      const requestsOf = async (of: Case) => (await own.requestsOf(of)).map(change)
      return { ...own, name, readIds, requestsOf }
    })
    const searches = await pageScenarios(context, cases, ways)
    const variants = await pageScenarios(context, cases, indexSources(context, loaded, client))
    const [first] = cases
    const requests = first ? await checkedRequests(context, own, first) : []
    const bySearch = await race(searches.flatMap(inSmallScenarios), context)
    const byIndex = await race(variants.flatMap(inSmallScenarios), context)
    const bySockets = await race(socketScenarios(context, requests, scope), context)
    const base = indices.AS_DEFINED
    return {
      sections: [
        { title: 'Searches for the same page', results: bySearch, base: AS_THE_SERVICE },
        { title: 'Variants of the same index', results: byIndex, base },
        { title: 'The indices', results: [await readIndices(context, loaded)], base },
        { title: `Connections to OpenSearch, ${first?.name}`, results: bySockets },
      ],
    }
  },
}

interface LoadedVariant {
  name: string
  index: string
  loadSeconds: number
  /** CPU time of OpenSearch for a document, until the last merge ended. */
  openSearchMicros: number
}

/** Creates an index for each variant, and fills it with all orders. */
async function loadVariants(
  { cluster, orders, prefix, readCpu, signal, log }: BenchContext,
  purpose: string,
  variants: indices.IndexVariants,
): Promise<LoadedVariant[]> {
  async function load(index: string, definition: object) {
    await cluster.create(index, definition)
    await sleep(CPU_RENEWAL_MS)
    const before = await readCpu()
    const startedAt = performance.now()
    await loadDocuments(orders.bulkLines(), { client: cluster.client, index, signal })
    await cluster.refresh(index)
    const loadSeconds = (performance.now() - startedAt) / 1000
    await cluster.settle(index)
    const micros = (await readCpu()).openSearchMicros - before.openSearchMicros
    return { loadSeconds, openSearchMicros: micros / orders.count }
  }

  // The JVM compiles on first use, so without a warm-up the first index would pay for all.
  const warmUp = `${prefix}warm-up`
  await load(warmUp, ordersDefinition)
  await cluster.remove(warmUp)
  const loaded: LoadedVariant[] = []
  for (const [name, variant] of Object.entries(variants)) {
    const index = `${prefix}${purpose}-${loaded.length}`
    log(`loading ${orders.count} orders: ${name}`)
    loaded.push({ name, index, ...(await load(index, indices.definitionWith(variant))) })
    const { segments = 1 } = variant
    if (segments !== 'as filled') await cluster.merge(index, segments)
  }
  return loaded
}

function indexSources(context: BenchContext, loaded: readonly LoadedVariant[], client: LoadClient) {
  return loaded.map(({ name, index }) => rawSearches(context, { name, index, client }))
}

/** Called long after the loads, since a node updates its disk statistics every ten seconds only. */
async function readIndices(
  { cluster }: BenchContext,
  loaded: readonly LoadedVariant[],
): Promise<Result> {
  const samples: Result['samples'] = {}
  for (const { name, index, loadSeconds, openSearchMicros } of loaded) {
    const { bytes, segments } = await cluster.figures(index)
    samples[name] = [{ loadSeconds, openSearchMicros, diskMegabytes: bytes / 1e6, segments }]
  }
  return { name: 'load of a document', samples }
}

/**
 * Splits a scenario into several, each with the first contender, which the others are compared
 * with.
 */
export function inSmallScenarios({ name, contenders }: Scenario): Scenario[] {
  const [first, ...others] = contenders
  if (first === undefined) return []
  const count = Math.ceil(others.length / BESIDE_THE_FIRST)
  return Array.from({ length: count }, (_, at) => {
    const from = at * BESIDE_THE_FIRST
    return { name, contenders: [first, ...others.slice(from, from + BESIDE_THE_FIRST)] }
  })
}

/** For each number of concurrent requests at most as many connections: more would stay idle. */
function socketScenarios(
  context: BenchContext,
  requests: readonly LoadRequest[],
  scope: AsyncDisposableStack,
): Scenario[] {
  return CONCURRENCY.map((concurrency) => {
    const counts = SOCKETS.filter((count) => count <= concurrency)
    const contenders = counts.map((count) => {
      const client = scope.use(createLoadClient(context.openSearch, concurrency, count))
      return loopContender(context, { name: `${count} connections`, client, requests })
    })
    return { name: `${concurrency} at a time`, contenders }
  })
}
