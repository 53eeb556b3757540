import { medianDifference } from '../../../test/harness/statistics.ts'
import type { BenchContext, Part } from '../context.ts'
import { createLoadClient } from '../measuring/load.ts'
import { loopContender, race, type Scenario, warmUpProcesses } from '../measuring/race.ts'
import { accountsOf } from '../orders/cases.ts'
import * as pages from '../orders/pages.ts'
import { fillServiceIndex } from '../orders/stores.ts'
import {
  combined,
  formatFigure,
  type Ratios,
  type Result,
  type Section,
  valuesOf,
} from '../report.ts'
import {
  openBareProxy,
  openEmbeddedService,
  openStraightforward,
  PROXY,
  shortenedTo,
} from './api/contenders.ts'

const perRaw = { of: 'api', per: 'raw', figure: 'perSecond' } as const
const perProxy = { of: 'api', per: PROXY, figure: 'perSecond' } as const
const cpu = { figure: 'processMicros', isCost: true } as const
const ANY_LOAD = [
  { ...perRaw, name: 'api÷raw' },
  { ...perProxy, name: 'api÷bare proxy' },
  { ...perRaw, name: 'embedded÷raw', of: 'embedded' },
  { ...perRaw, name: 'p50 api÷raw', figure: 'p50Ms', isCost: true },
  { ...perProxy, ...cpu, name: 'cpu api÷bare proxy' },
  { ...perProxy, ...cpu, name: 'cpu embedded÷bare proxy', of: 'embedded' },
  { ...perRaw, ...cpu, name: 'cpu OpenSearch api÷raw', figure: 'openSearchMicros' },
  { ...perProxy, ...cpu, name: 'cpu Redis api÷bare proxy', figure: 'redisMicros' },
] as const
const ALL_RATIOS = [
  ...ANY_LOAD,
  { ...perRaw, name: 'api÷straightforward', per: 'straightforward' },
  { ...perRaw, ...cpu, name: 'cpu api÷straightforward', per: 'straightforward' },
] as const
/**
 * Further loads would double the time of the part, so they have these cases and contenders only.
 */
const FURTHER_CASES = ['large created 20', 'large created 100']
const MANY = { connections: 64, names: ['raw', PROXY, 'api', 'embedded'] }
const ALONE = { connections: 1, names: ['raw', PROXY, 'api'] }
const LEGEND = `raw: the search of the service without a window, sent directly to OpenSearch; api: GET /v1/orders
bare proxy: Fastify without a log: one GET in Redis, then the raw search, of which it returns as many bytes as the page has
straightforward: the usual implementation; embedded: the service alone, one process without OpenSearch
µs: CPU time of a request; MB: resident memory of the process at the end of the case`
const FURTHER_LEGEND = `only ${FURTHER_CASES.join(' and ')}, and without the straightforward version`

export const apiPart: Part = {
  name: 'api',
  about: 'the service against the raw search, two baselines, and itself without OpenSearch',
  async measure(context, scope) {
    const { cases, cluster, openSearch, options, settings } = context
    const { index, services } = await fillServiceIndex(context, scope)
    const access = await pages.accessTo(accountsOf(cases), services)
    const client = scope.use(createLoadClient(openSearch, options.connections))
    const raw = pages.rawSearches(context, { index, client })
    // Compared contenders run directly after each other.
    const checked = await checkedCases(context, [
      await openStraightforward(context, access, scope),
      await pages.openService(context, { name: 'api', settings, access }, scope),
      raw,
      await openBareProxy(context, raw, scope),
      await openEmbeddedService(context, scope),
    ])
    await warmUpProcesses(
      checked.flatMap(({ sources }) => sources),
      context,
    )
    const sections: Section[] = []
    for (const state of options.states) {
      if (state === 'merged') await cluster.merge(index)
      const results = await race(scenariosOf(context, checked), context)
      const { segments, bytes } = await cluster.figures(index)
      const hits = await cluster.queryCacheHits(index)
      sections.push({
        title: `The service and its search; the index ${state}, ${segments} segment(s), ${Math.round(bytes / 1e6)} MB`,
        results,
        base: 'raw',
        // The history has the index as filled only.
        ratios: state === 'filled' ? ALL_RATIOS : [],
        notes: [LEGEND, `hits in the query cache, which has none in production: ${hits}`],
      })
    }
    const further = checked.filter(({ name }) => FURTHER_CASES.includes(name))
    const many = await race(scenariosAt(context, further, MANY, scope), context)
    const alone = await race(scenariosAt(context, further, ALONE, scope), context)
    const added = addedLatencies(alone)
    return {
      sections: [
        ...sections,
        {
          title: `${MANY.connections} connections`,
          results: many,
          base: 'raw',
          ratios: ANY_LOAD,
          suffix: `, ${MANY.connections} connections`,
          notes: [FURTHER_LEGEND],
        },
        {
          title: 'One request at a time',
          results: alone,
          base: 'raw',
          notes: [FURTHER_LEGEND, ...describeCosts(added)],
        },
      ],
      recorded: { costs: { ...added, ...memoryCosts(sections[0]?.results ?? []) } },
    }
  },
}

/** A case with the checked requests of each source. */
interface CheckedCase {
  name: string
  sources: readonly Awaited<ReturnType<typeof pages.checkedSources>>[number][]
}

async function checkedCases(context: BenchContext, sources: readonly pages.PageSource[]) {
  const checked: CheckedCase[] = []
  for (const of of context.cases) {
    const found = await pages.checkedSources(context, sources, of)
    const own = found.find(({ name }) => name === 'api')?.requests ?? []
    const shortened = found.map((source) => {
      const isProxy = source.name === PROXY
      return isProxy ? { ...source, requests: shortenedTo(own, source.requests) } : source
    })
    checked.push({ name: of.name, sources: shortened })
  }
  return checked
}

function scenariosOf(context: BenchContext, checked: readonly CheckedCase[]): Scenario[] {
  return checked.map(({ name, sources }) => {
    return { name, contenders: sources.map((source) => loopContender(context, source)) }
  })
}

/** The scenarios with the sources of these names, at so many connections. */
function scenariosAt(
  context: BenchContext,
  checked: readonly CheckedCase[],
  { connections, names }: { connections: number; names: readonly string[] },
  scope: AsyncDisposableStack,
): Scenario[] {
  const withClients = checked.map(({ name, sources }) => {
    const chosen = sources.filter((source) => names.includes(source.name))
    const own = chosen.map((source) => {
      const target = source.server ? { origins: [source.server.origin] } : context.openSearch
      return { ...source, client: scope.use(createLoadClient(target, connections)) }
    })
    return { name, sources: own }
  })
  return scenariosOf(context, withClients)
}

/** What a process adds to the p50 of the raw search without other load, in milliseconds. */
export function addedLatencies(results: readonly Result[]): Ratios {
  const added = results.flatMap((result) => {
    const p50s = (contender: string) => valuesOf(result, contender, 'p50Ms')
    return ['api', PROXY].map((of) => {
      const name = `added p50 ms ${of}−raw ${result.name}, unloaded`
      return [name, medianDifference(p50s(of), p50s('raw'))]
    })
  })
  return Object.fromEntries(added)
}

/** The most resident memory of each kind of service, in MB. */
export function memoryCosts(results: readonly Result[]): Ratios {
  const most = ['api', 'embedded'].map((of) => {
    const all = results.map((result) => combined(result, of, 'megabytes'))
    return [`MB ${of}, any case`, Math.max(...all)]
  })
  return Object.fromEntries(most)
}

function describeCosts(costs: Ratios): string[] {
  return Object.entries(costs).map(([name, value]) => `${name}: ${formatFigure(value)}`)
}
