import { writeCursor } from '../baselines/straightforward-app.ts'
import type { BenchContext } from '../context.ts'
import { createClosedLoop } from '../measuring/closed-loop.ts'
import { type Result, raceLoops } from '../measuring/race.ts'
import { type RunningApi, type Settings, startApi, startBaseline } from '../measuring/service.ts'
import { type Case, meanRows } from '../orders/cases.ts'
import * as pages from '../orders/pages.ts'
import { fillEmbedded, fillServiceIndex, openEmbedded } from '../orders/stores.ts'
import type { Part } from '../part.ts'
import * as compare from '../reporting/comparison.ts'
import { formatFigure } from '../reporting/table.ts'

const { apiCpu, megabytes, openSearchCpu, p50, p99, perSecond, redisCpu } = compare.figure
const ALL = ['raw', 'api', 'straightforward', 'embedded']
const PROCESSES = ['api', 'straightforward', 'embedded']

const perRaw = { key: 'apiPerRaw', of: 'api', per: 'raw', figure: perSecond }
const perStraightforward = { ...perRaw, key: 'apiPerStraightforward', per: 'straightforward' }
const embeddedPerRaw = { ...perRaw, key: 'embeddedPerRaw', of: 'embedded' }
const p50PerRaw = { ...perRaw, key: 'p50PerRaw', figure: p50, isCost: true }
const RATIOS = [
  { ...perRaw, recordedAs: 'api÷raw' },
  { ...perStraightforward, recordedAs: 'api÷straightforward' },
  { ...embeddedPerRaw, recordedAs: 'embedded÷raw' },
  { ...p50PerRaw, recordedAs: 'p50 api÷raw' },
]
const RATES = [
  compare.figureColumn('raw/s', ['raw'], perSecond),
  compare.figureColumn('api/s', ['api'], perSecond),
  compare.ratioColumn('api÷raw', perRaw),
  compare.ratioColumn('api÷straightforward', perStraightforward),
  compare.ratioColumn('embedded÷raw', embeddedPerRaw),
  compare.figureColumn('p50 ms', ALL, p50),
  compare.figureColumn('p99 ms', ALL, p99),
]
const COSTS = [
  compare.figureColumn('OpenSearch µs', ['raw', 'api', 'straightforward'], openSearchCpu),
  compare.figureColumn('Redis µs', ['api', 'straightforward'], redisCpu),
  compare.figureColumn('process µs', PROCESSES, apiCpu),
  compare.figureColumn('MB', PROCESSES, megabytes),
]
const LEGEND = `raw: the search of the service, sent directly to OpenSearch; api: GET /v1/orders
straightforward: the usual implementation; embedded: the service alone, one process without OpenSearch
p50, p99: raw/api/straightforward/embedded; rows: orders of a page
µs: CPU time of a request; OpenSearch: raw/api/straightforward; Redis: api/straightforward
process µs, and its resident MB at the end of the case: api/straightforward/embedded`

export const apiPart: Part = {
  name: 'api',
  about: 'the service against the raw search, a baseline, and itself without OpenSearch',
  async measure(context, scope) {
    const { cases, cluster, options, settings } = context
    const { index, services } = await fillServiceIndex(context, scope)
    const keys = await pages.issueKeys(cases, services)
    const loop = scope.use(createClosedLoop(context.openSearch, options.connections))
    // Compared contenders run directly after each other.
    const scenarios = await pages.pageScenarios(context, cases, [
      await openStraightforward(context, keys, scope),
      await openService(context, { name: 'api', settings, keys }, scope),
      pages.rawSearches(context, { index, loop }),
      await openEmbeddedService(context, scope),
    ])
    const sections = []
    for (const state of options.states) {
      if (state === 'merged') await cluster.merge(index)
      const results = await raceLoops(scenarios, context)
      const queryCacheHits = await cluster.queryCacheHits(index)
      const measured = { state, index: await cluster.figures(index), queryCacheHits }
      sections.push(apiSection(measured, cases, results))
    }
    return compare.reportSections(sections, 1)
  },
}

interface MeasuredIndex {
  state: string
  index: { segments: number; bytes: number }
  queryCacheHits: number
}

export function apiSection(
  measured: MeasuredIndex,
  cases: readonly Case[],
  results: readonly Result[],
): compare.Section {
  const { state, index, queryCacheHits } = measured
  const rows = ({ name }: Result) => {
    const of = cases.find((one) => one.name === name)
    return of ? meanRows(of).toFixed() : '-'
  }
  const memory = PROCESSES.map((name) => {
    const most = results.flatMap((result) => compare.valuesOf(result, name, megabytes))
    return `${name} ${formatFigure(Math.max(...most))} MB`
  })
  return {
    title: `The service and its search; the index ${state}, ${index.segments} segment(s), ${Math.round(index.bytes / 1e6)} MB`,
    heading: 'case',
    results,
    tables: [[{ title: 'rows', cell: rows }, ...RATES], COSTS],
    ratios: RATIOS,
    legend: [
      `highest resident memory of any case: ${memory.join(', ')}`,
      LEGEND,
      `hits in the query cache, which has none in production: ${queryCacheHits}`,
    ],
    extra: measured,
  }
}

interface ServicePlan {
  name: string
  settings: Settings
  keys: pages.Keys
}

/** Starts a service, and returns its pages as a contender. */
export async function openService(
  context: BenchContext,
  { name, settings, keys }: ServicePlan,
  scope: AsyncDisposableStack,
) {
  const server = scope.use(await startApi(settings))
  const loop = openLoop(context, server, scope)
  return { ...pages.servicePages(context, { name, loop, keys }), server }
}

function openLoop({ options }: BenchContext, { origin }: RunningApi, scope: AsyncDisposableStack) {
  return scope.use(createClosedLoop({ origins: [origin] }, options.connections))
}

async function openEmbeddedService(context: BenchContext, scope: AsyncDisposableStack) {
  const { settings, services } = await openEmbedded(context.settings, scope)
  await fillEmbedded(services, context)
  const keys = await pages.issueKeys(context.cases, services)
  return await openService(context, { name: 'embedded', settings, keys }, scope)
}

async function openStraightforward(
  context: BenchContext,
  keys: pages.Keys,
  scope: AsyncDisposableStack,
): Promise<pages.PageSource> {
  const { settings } = context
  const server = scope.use(await startBaseline('straightforward.ts', { args: [], settings }))
  const loop = openLoop(context, server, scope)
  const requestsOf = ({ places, sort, limit }: Case) =>
    places.map(({ accountId, after }) => {
      const cursor = after && writeCursor([after.key, after.id])
      return pages.pageRequest({ key: keys.get(accountId) ?? '', sort, limit, cursor })
    })
  const name = 'straightforward'
  return { name, loop, server, requestsOf, extraRows: 0, readIds: pages.pageIds }
}
