import { createClosedLoop } from '../measuring/closed-loop.ts'
import { median, percentile, summarize } from '../measuring/figures.ts'
import { type Arrival, createOpenLoop } from '../measuring/open-loop.ts'
import {
  closedLoopContender,
  type Result,
  race,
  raceLoops,
  type Sample,
} from '../measuring/race.ts'
import type { LoadRequest } from '../measuring/request.ts'
import { startApi } from '../measuring/service.ts'
import { checkedRequests, issueKeys, rawSearches, servicePages } from '../orders/pages.ts'
import { fillServiceIndex } from '../orders/stores.ts'
import type { Part, PartReport } from '../part.ts'
import * as compare from '../reporting/comparison.ts'
import { formatAll, formatFigure, renderTable } from '../reporting/table.ts'

const { p50, p99, perSecond } = compare.figure
const NAMES = ['raw', 'api'] as const
type Name = (typeof NAMES)[number]
const CASES = ['large created 20', 'large created 100']
/** Of the ceiling of a contender. */
const SHARES = [0.5, 0.8]
/** Opens the connections that the rate needs. */
const WARM_UP_SECONDS = 2

const apiPerRaw = { of: 'api', per: 'raw' }
const CEILING = { ...apiPerRaw, recordedAs: 'ceiling api÷raw', figure: perSecond }
const P50 = { ...apiPerRaw, recordedAs: 'p50 api÷raw', figure: p50, isCost: true }
const P99 = { ...apiPerRaw, recordedAs: 'p99 api÷raw', figure: p99, isCost: true }
const COLUMNS = ['', '/s', 'p50 ms', 'p90 ms', 'p99 ms', 'p99.9 ms', 'max ms', 'sent late ms']
const LEGEND = `ceiling: a closed loop, answers a second; %: requests arrive at this share of the contender's own ceiling, and their
latency counts from when they were due; max: of all rounds; sent late: p50/p99 of the delay in this process, which is part of the latency`

/** Latencies of requests, counted from when they were due. */
export interface Latencies {
  answers: number
  /** Sent per second. */
  rate: number
  p50Ms: number
  p90Ms: number
  p99Ms: number
  p999Ms: number
  mostMs: number
  /** The share of this process, which sent requests later than due. */
  late: { p50Ms: number; p99Ms: number }
  failures: Record<string, number>
}

/** `seconds`: the duration in which the requests were due. Failed requests count, too. */
export function latenciesOf(arrivals: readonly Arrival[], seconds: number): Latencies {
  const took = Float64Array.from(arrivals, ({ ms }) => ms).sort()
  const late = Float64Array.from(arrivals, ({ dueAt, sentAt }) => sentAt - dueAt).sort()
  const failed = arrivals.flatMap(({ failure }) => failure ?? [])
  const byKind = Map.groupBy(failed, (failure) => failure)
  return {
    answers: arrivals.length,
    rate: arrivals.length / seconds,
    p50Ms: percentile(took, 0.5),
    p90Ms: percentile(took, 0.9),
    p99Ms: percentile(took, 0.99),
    p999Ms: percentile(took, 0.999),
    mostMs: percentile(took, 1),
    late: { p50Ms: percentile(late, 0.5), p99Ms: percentile(late, 0.99) },
    failures: Object.fromEntries([...byKind].map(([what, those]) => [what, those.length])),
  }
}

/** The ceilings of the raw search and of the service, then their latencies unloaded and below them. */
export const ratesPart: Part = {
  name: 'rates',
  about: 'latencies at a rate below the ceiling, and unloaded',
  async measure(context, scope) {
    const { openSearch, options, signal, log } = context
    const { connections, rounds, seconds } = options
    const cases = context.cases.filter(({ name }) => CASES.includes(name))
    const { index, services } = await fillServiceIndex(context, scope)
    const server = scope.use(await startApi(context.settings))
    const keys = await issueKeys(cases, services)
    const api = { origins: [server.origin] }
    const openLoops = (concurrency: number) => ({
      raw: scope.use(createClosedLoop(openSearch, concurrency)),
      api: scope.use(createClosedLoop(api, concurrency)),
    })
    const [many, single] = [openLoops(connections), openLoops(1)]
    const arrivals = {
      raw: scope.use(createOpenLoop(openSearch)),
      api: scope.use(createOpenLoop(api)),
    }
    const raw = rawSearches(context, { index, loop: many.raw })
    const own = servicePages(context, { name: 'api', loop: many.api, keys })
    const checked: { name: string; requests: Record<Name, LoadRequest[]> }[] = []
    for (const of of cases) {
      const searches = await checkedRequests(context, raw, of)
      const pages = await checkedRequests(context, own, of)
      checked.push({ name: of.name, requests: { raw: searches, api: pages } })
    }

    const closed = (loops: typeof many, suffix = '') =>
      checked.map(({ name, requests }) => {
        const plans = NAMES.map((of) => ({ name: of, loop: loops[of], requests: requests[of] }))
        const contenders = plans.map((plan) => closedLoopContender(context, plan))
        return { name: `${name}${suffix}`, contenders }
      })
    const ceilings = await raceLoops(closed(many), context)
    const unloaded = await raceLoops(closed(single, ', unloaded'), context)
    const arriving = ceilings.flatMap((ceiling, at) =>
      SHARES.map((share) => ({
        name: `${ceiling.name}, at ${100 * share}%`,
        contenders: NAMES.map((name) => {
          const rate = share * median(compare.valuesOf(ceiling, name, perSecond))
          const requests = checked[at]?.requests[name] ?? []
          const measure = async () => {
            await arrivals[name].run(requests, { rate, seconds: WARM_UP_SECONDS, signal })
            return latenciesOf(
              await arrivals[name].run(requests, { rate, seconds, signal }),
              seconds,
            )
          }
          return { name, measure }
        }),
      })),
    )
    const describe = (one: Latencies) =>
      `${Math.round(one.rate)}/s, p99 ${formatFigure(one.p99Ms)} ms`
    const results = await race(arriving, { rounds, signal, log }, describe)
    return reportRates({ connections, ceilings, unloaded, arrivals: results })
  },
}

export interface RatesComparison {
  connections: number
  ceilings: readonly Result[]
  unloaded: readonly Result[]
  arrivals: readonly Result<Latencies>[]
}

export function reportRates(comparison: RatesComparison): PartReport {
  const { connections, ceilings, unloaded, arrivals } = comparison
  return {
    tables: [renderRates(comparison)],
    figures: {
      connections,
      ceilings: ceilings.map((result) => compare.figuresOf(result)),
      unloaded: unloaded.map((result) => {
        return { ...compare.figuresOf(result), addedMs: addedMs(result) }
      }),
      arrivals: arrivals.map((result) => compare.figuresOf(result)),
    },
    ratios: compare.recordedOf(ceilings, [CEILING]).ratios,
    costs: {
      ...compare.recordedOf(unloaded, [P50]).costs,
      ...compare.recordedOf(arrivals, [P50, P99]).costs,
    },
    failures: [
      ...[...ceilings, ...unloaded].flatMap(compare.failuresOf),
      ...arrivals.flatMap(compare.failuresOf),
    ],
  }
}

/** The latency that the service adds to the search while nothing else runs: the median of the rounds. */
function addedMs(result: Result): number {
  const raw = compare.valuesOf(result, 'raw', p50)
  return median(
    compare.valuesOf(result, 'api', p50).map((ms, round) => ms - (raw[round] ?? Number.NaN)),
  )
}

function renderRates({ connections, ceilings, unloaded, arrivals }: RatesComparison): string {
  const rows = ceilings.flatMap((ceiling) => [
    ...NAMES.map((contender) => {
      const of = (figure: (sample: Sample) => number) =>
        formatFigure(median(compare.valuesOf(ceiling, contender, figure)))
      const name = `${ceiling.name}, ${contender}, ceiling`
      return [name, of(perSecond), of(p50), '-', of(p99), '-', '-', '-']
    }),
    ...arrivals.filter(({ name }) => name.startsWith(`${ceiling.name}, `)).flatMap(arrivalRows),
  ])
  const alone = [
    compare.figureColumn('raw p50 ms', ['raw'], p50),
    compare.figureColumn('api p50 ms', ['api'], p50),
    { title: 'added ms', cell: (result: Result) => formatFigure(addedMs(result)) },
  ]
  return [
    `Latencies at a rate; the ceiling with ${connections} connections`,
    '',
    renderTable(COLUMNS, rows),
    LEGEND,
    '',
    compare.renderResults('one request at a time', alone, unloaded),
  ].join('\n')
}

function arrivalRows({ name, samples }: Result<Latencies>): string[][] {
  const [of = '', share = ''] = name.split(', at ')
  return Object.entries(samples).map(([contender, taken]) => {
    const one = summarize(taken)
    const figures = [one.rate, one.p50Ms, one.p90Ms, one.p99Ms, one.p999Ms, one.mostMs]
    const late = formatAll([one.late.p50Ms, one.late.p99Ms])
    return [`${of}, ${contender}, ${share}`, ...figures.map(formatFigure), late]
  })
}
