import { median, percentile } from '../../../test/harness/statistics.ts'
import { type Part, startBenched } from '../context.ts'
import {
  createLoadClient,
  loadFigures,
  type Outcome,
  sortedMs,
  type Target,
} from '../measuring/load.ts'
import { loopContender, race } from '../measuring/race.ts'
import { accountsOf, type Case } from '../orders/cases.ts'
import { accessTo, checkedSources, rawSearches, servicePages } from '../orders/pages.ts'
import { fillServiceIndex } from '../orders/stores.ts'
import { valuesOf } from '../report.ts'

const CASES = ['large created 20', 'large created 100']
/** Of the ceiling of a contender. */
const SHARES = [0.5, 0.8]
/** Opens the connections that the rate needs. */
const WARM_UP_SECONDS = 2

const perRaw = { of: 'api', per: 'raw' } as const
const CEILING = { ...perRaw, name: 'ceiling api÷raw', figure: 'perSecond' } as const
const P50 = { ...perRaw, name: 'p50 api÷raw', figure: 'p50Ms', isCost: true } as const
const P99 = { ...perRaw, name: 'p99 api÷raw', figure: 'p99Ms', isCost: true } as const
const LEGEND = `%: requests arrive at this share of the contender's own ceiling, and their latency counts from when they were due
max: of all rounds; sent late: the delay in this process, which is part of the latency`

/** The figures of requests that were due within so many seconds. Failed requests count, too. */
export function arrivalFigures(outcomes: readonly Outcome[], seconds: number) {
  const took = sortedMs(outcomes)
  const late = outcomes.map(({ dueAt, sentAt }) => ({ ms: sentAt - dueAt }))
  return {
    ...loadFigures(outcomes, 1000 * seconds),
    p90Ms: percentile(took, 0.9),
    p999Ms: percentile(took, 0.999),
    maxMs: percentile(took, 1),
    lateMs: percentile(sortedMs(late), 0.99),
  }
}

/**
 * The ceilings of the raw search and of the service, then their latencies unloaded and below them.
 */
export const ratesPart: Part = {
  name: 'rates',
  about: 'latencies at a rate below the ceiling, and unloaded',
  async measure(context, scope) {
    const { openSearch, options, signal } = context
    const { connections, seconds } = options
    const cases = context.cases.filter(({ name }) => CASES.includes(name))
    const { index, services } = await fillServiceIndex(context, scope)
    const server = scope.use(await startBenched(context, 'api', context.settings))
    const access = await accessTo(accountsOf(cases), services)
    const clientsOf = (target: Target) => ({
      client: scope.use(createLoadClient(target, connections)),
      single: scope.use(createLoadClient(target)),
    })
    const [raw, api] = [clientsOf(openSearch), clientsOf({ origins: [server.origin] })]
    const sources = [
      { ...raw, ...rawSearches(context, { index, client: raw.client }) },
      { ...api, ...servicePages(context, { name: 'api', client: api.client, access }) },
    ]
    const check = async (of: Case) => {
      return { name: of.name, contenders: await checkedSources(context, sources, of) }
    }
    const checked: Awaited<ReturnType<typeof check>>[] = []
    for (const of of cases) checked.push(await check(of))

    const closed = checked.map(({ name, contenders }) => {
      return { name, contenders: contenders.map((one) => loopContender(context, one)) }
    })
    const alone = checked.map(({ name, contenders }) => ({
      name: `${name}, unloaded`,
      contenders: contenders.map((one) => loopContender(context, { ...one, client: one.single })),
    }))
    const ceilings = await race(closed, context)
    const unloaded = await race(alone, context)
    const below = ceilings.flatMap((ceiling, at) =>
      SHARES.map((share) => ({
        name: `${ceiling.name}, at ${100 * share}%`,
        contenders: (checked[at]?.contenders ?? []).map(({ name, requests, single }) => {
          const rate = share * median(valuesOf(ceiling, name, 'perSecond'))
          const measure = async () => {
            await single.arrive(requests, { rate, seconds: WARM_UP_SECONDS, signal })
            const outcomes = await single.arrive(requests, { rate, seconds, signal })
            return arrivalFigures(outcomes, seconds)
          }
          return { name, measure }
        }),
      })),
    )
    return {
      sections: [
        {
          title: `Ceilings with ${connections} connections`,
          results: ceilings,
          base: 'raw',
          ratios: [CEILING],
        },
        {
          title: 'One request at a time',
          results: unloaded,
          base: 'raw',
          ratios: [P50],
        },
        {
          title: 'Latencies at a rate',
          results: await race(below, context),
          base: 'raw',
          ratios: [P50, P99],
          notes: [LEGEND],
        },
      ],
    }
  },
}
