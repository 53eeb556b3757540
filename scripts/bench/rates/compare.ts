import type { BenchContext } from '../context.ts'
import { createGenerator, type Generator, type LoadRequest } from '../measuring/generator.ts'
import { createOpenLoop, type OpenLoop } from '../measuring/open-loop.ts'
import { type Heat, type HeatResult, race, summarize } from '../measuring/race.ts'
import { checkBoth, type LoadedApi, withLoadedApi } from '../orders/loaded-api.ts'
import { issueKeys, pageRequests } from '../orders/pages.ts'
import { type LatencyFigures, latenciesOf } from './latencies.ts'

export const sides = ['raw', 'api'] as const
export type SideName = (typeof sides)[number]

/** Of the ceiling of a side. */
export const shares = [0.5, 0.8] as const
export type Share = (typeof shares)[number]

export interface RatesComparison {
  connections: number
  /** Closed loops, over all connections: the most that each side can do. */
  ceilings: HeatResult[]
  /** One connection, one request at a time. */
  unloaded: HeatResult[]
  /** What arrives at a rate, whoever is slow. */
  arrivals: ArrivalResult[]
}

/** A case at a share of each side's ceiling; one a round. */
export interface ArrivalResult {
  name: string
  share: Share
  samples: Record<SideName, LatencyFigures[]>
}

const CASES = ['large created 20', 'large created 100']
/** Opens the connections that the rate takes. */
const WARM_UP_SECONDS = 2

/** The ceiling of the raw search and of the service, then how long each takes below it, and unloaded. */
export async function compareRates(context: BenchContext): Promise<RatesComparison> {
  const { openSearch, options, orders, signal, log } = context
  const { connections, rounds, seconds } = options
  log(`loading ${orders.count} orders …`)
  return await withLoadedApi(context, orders.bulkLines(), async (loaded) => {
    const own = { origins: [loaded.api.origin] }
    const many = {
      raw: createGenerator(openSearch, connections),
      api: createGenerator(own, connections),
    }
    const one = { raw: createGenerator(openSearch, 1), api: createGenerator(own, 1) }
    const open = { raw: createOpenLoop(openSearch), api: createOpenLoop(own) }
    try {
      const asked = await prepare(context, loaded, many)
      const racing = { rounds, seconds, readCpu: loaded.readCpu, signal, log }
      const ceilings = await race(heatsOf(asked, many), racing)
      const unloaded = await race(heatsOf(asked, one), racing)
      const arrivals = await arrive(context, { asked, ceilings, open })
      return { connections, ceilings, unloaded, arrivals }
    } finally {
      const all = [many, one, open].flatMap(({ raw, api }) => [raw, api])
      await Promise.all(all.map((each) => each.close()))
    }
  })
}

type Both<T> = Record<SideName, T>
/** The requests of each case. */
type AskedByCase = ReadonlyMap<string, Both<LoadRequest[]>>

async function prepare(
  context: BenchContext,
  { index, services }: LoadedApi,
  { raw, api: own }: Both<Generator>,
): Promise<AskedByCase> {
  const { signal, log } = context
  const cases = context.cases.filter(({ name }) => CASES.includes(name))
  const keys = await issueKeys(cases, services)
  const asked = new Map<string, Both<LoadRequest[]>>()
  for (const of of cases) {
    log(`checking ${of.places.length} pages: ${of.name}`)
    const pages = await pageRequests(of, { generator: own, keys, signal })
    asked.set(of.name, await checkBoth(context, { of, index, raw, own, pages }))
  }
  return asked
}

function heatsOf(asked: AskedByCase, generators: Both<Generator>): Heat[] {
  return [...asked].map(([name, requests]) => ({
    name,
    sides: sides.map((side) => {
      return { name: side, generator: generators[side], requests: requests[side] }
    }),
  }))
}

interface Arriving {
  asked: AskedByCase
  ceilings: readonly HeatResult[]
  open: Both<OpenLoop>
}

/** Both sides one right after the other, every other round the other way round. */
async function arrive(
  { options, signal, log }: BenchContext,
  { asked, ceilings, open }: Arriving,
): Promise<ArrivalResult[]> {
  const { rounds, seconds } = options
  const results = ceilings.flatMap(({ name }) =>
    shares.map((share): ArrivalResult => ({ name, share, samples: { raw: [], api: [] } })),
  )
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, share, samples } of results) {
      const told: string[] = []
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const requests = asked.get(name)?.[side] ?? []
        const ceiling = ceilings.find((one) => one.name === name)?.samples[side] ?? []
        const rate = share * summarize(ceiling).perSecond
        await open[side].run(requests, { rate, seconds: WARM_UP_SECONDS, signal })
        const figures = latenciesOf(
          await open[side].run(requests, { rate, seconds, signal }),
          seconds,
        )
        samples[side].push(figures)
        told.push(`${side} ${Math.round(rate)}/s, p99 ${figures.p99Ms.toFixed(1)} ms`)
      }
      log(`round ${round + 1}/${rounds}  ${name} at ${100 * share}%: ${told.join('; ')}`)
    }
  }
  return results
}
