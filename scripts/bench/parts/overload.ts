import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningApi } from '../../../test/harness/processes/service.ts'
import { median } from '../../../test/harness/statistics.ts'
import { type BenchContext, type Part, startBenched } from '../context.ts'
import { createLoadClient, type LoadRequest, loadFigures, type Outcome } from '../measuring/load.ts'
import { loopContender } from '../measuring/race.ts'
import { accountsOf } from '../orders/cases.ts'
import { accessTo, checkedRequests, openService } from '../orders/pages.ts'
import { fillServiceIndex } from '../orders/stores.ts'
import {
  describeSample,
  formatFigure,
  formatRatio,
  type PartReport,
  type Sample,
} from '../report.ts'

const CASE = 'small created 20'
/**
 * OpenSearch compiles frequent code; without a warm-up the ceiling would rise from round to round.
 */
const WARM_UP_MS = 20_000
const CLOSED_LOOPS = [16, 64]
const FLOOD = 3
const FLOOD_SECONDS = 30
const CALM = 0.5
const CALM_SECONDS = 10
const PROBE_MS = 500
const SHED = 'status 503'
const LIMITED = 'status 429'
const LEGEND = `ceiling: a closed loop; flood: three times the ceiling arrives for 30 s, however slow the service is; calm: half the ceiling, right after it
/s, p50, p99: of served requests; process µs: CPU time of the API's process for a served request, and in the flood for a shed one
newcomers: requests on their own connections`

/** What remains of the service at three times its ceiling. */
export const overloadPart: Part = {
  name: 'overload',
  about: 'three times the ceiling of the API',
  async measure(context, scope) {
    const { options, settings, signal, log } = context
    const { services } = await fillServiceIndex(context, scope)
    const cases = context.cases.filter(({ name }) => name === CASE)
    const access = await accessTo(accountsOf(cases), services)
    const requests: LoadRequest[] = []
    for (const of of cases) {
      await using checking = new AsyncDisposableStack()
      const plan = { name: 'api', settings, access }
      const source = await openService(context, plan, checking)
      requests.push(...(await checkedRequests(context, source, of)))
      log('warming up …')
      await source.client.loop(requests, WARM_UP_MS, signal)
    }
    const samples: OverloadSample[] = []
    while (samples.length < options.rounds) {
      const sample = await measureOverload(context, requests)
      samples.push(sample)
      const { ceiling, flood, calm } = sample
      const texts = [ceiling, flood, calm].map(describeSample)
      log(`round ${samples.length}/${options.rounds}: ceiling, flood, calm: ${texts.join(', ')}`)
    }
    return reportOverload(samples)
  },
}

/** One process at its ceiling, at three times as much, and at half of it. */
export interface OverloadSample {
  ceiling: Sample
  flood: Sample
  calm: Sample
  /** From the start of the calm to the last request that was not served. */
  recoveryMs: number
  /** The latencies of requests on new connections during the flood. */
  newcomersMs: readonly number[]
}

/** Each round has its own process, so that it starts with the same memory. */
async function measureOverload(
  context: BenchContext,
  requests: readonly LoadRequest[],
): Promise<OverloadSample> {
  const { settings, signal } = context
  await using server = await startBenched(context, 'api', settings)
  const target = { origins: [server.origin] }
  await using callers = createLoadClient(target)
  const ceilings = []
  for (const connections of CLOSED_LOOPS) {
    await using client = createLoadClient(target, connections)
    const contender = loopContender(context, { name: 'api', client, requests, server })
    ceilings.push(await contender.measure())
  }
  const ceiling = ceilings.reduce((a, b) => ((b.perSecond ?? 0) > (a.perSecond ?? 0) ? b : a))
  const { perSecond = 0, processMicros = 0 } = ceiling

  const ending = new AbortController()
  const probing = probe(server, requests[0], ending.signal)
  const before = await server.cpuMicros()
  const startedAt = performance.now()
  const floodPace = { rate: Math.round(FLOOD * perSecond), seconds: FLOOD_SECONDS, signal }
  const flooded = await callers.arrive(requests, floodPace)
  const floodMs = performance.now() - startedAt
  const cpuMicros = (await server.cpuMicros()) - before
  ending.abort()
  const { megabytes, newcomersMs } = await probing

  const calmAt = performance.now()
  const calmPace = { rate: Math.round(CALM * perSecond), seconds: CALM_SECONDS, signal }
  const calmed = await callers.arrive(requests, calmPace)
  const rejected = calmed.filter(({ failure }) => failure !== undefined)
  const recoveryMs = Math.max(0, ...rejected.map(({ sentAt }) => sentAt - calmAt))
  const flood = outcomeFigures(flooded, floodMs)
  const shedMicros = (cpuMicros - flood.served * processMicros) / flood.shed
  return {
    ceiling,
    flood: { ...flood, processMicros: shedMicros, megabytes },
    calm: outcomeFigures(calmed, 1000 * CALM_SECONDS),
    recoveryMs,
    newcomersMs,
  }
}

/** Reads a process's memory twice a second, and times a request on a new connection. */
async function probe(api: RunningApi, request: LoadRequest | undefined, signal: AbortSignal) {
  const megabytes: number[] = []
  const newcomersMs: number[] = []
  const headers = { ...request?.headers, connection: 'close' }
  while (!signal.aborted) {
    await sleep(PROBE_MS)
    const startedAt = performance.now()
    // A connection that fails has taken as long as one that succeeds late.
    await fetch(`${api.origin}${request?.path}`, { headers }).catch(() => {})
    newcomersMs.push(performance.now() - startedAt)
    megabytes.push((await api.residentBytes()) / 2 ** 20)
  }
  return { megabytes: Math.max(...megabytes), newcomersMs }
}

/** Counts responses by their outcome. Latencies and the rate are those of served requests. */
export function outcomeFigures(outcomes: readonly Outcome[], ms: number) {
  const of = (failure: string | undefined) => outcomes.filter((one) => one.failure === failure)
  const [served, shed, limited] = [of(undefined), of(SHED), of(LIMITED)]
  const { [SHED]: _, [LIMITED]: __, ...failures } = loadFigures(outcomes, ms).failures
  return {
    ...loadFigures(served, ms),
    answers: outcomes.length,
    ...{ served: served.length, shed: shed.length, limited: limited.length },
    shedP99Ms: loadFigures(shed, ms).p99Ms,
    failures,
  }
}

export function reportOverload(samples: readonly OverloadSample[]): PartReport {
  const phase = (name: 'ceiling' | 'flood' | 'calm') => samples.map((sample) => sample[name])
  const phases = { ceiling: phase('ceiling'), flood: phase('flood'), calm: phase('calm') }
  const inFlood = (figure: 'perSecond' | 'processMicros') =>
    samples.map(({ ceiling, flood }) => (flood[figure] ?? 0) / (ceiling[figure] ?? 0))
  const [goodput, shedCost] = [inFlood('perSecond'), inFlood('processMicros')]
  const results = [{ name: 'overload', samples: phases }]
  const newcomersMs = samples.flatMap((sample) => sample.newcomersMs)
  const worst = (values: readonly number[]) => formatFigure(Math.max(...values))
  const notes = [
    `goodput: ${formatRatio(median(goodput))} of the ceiling, at worst ${formatRatio(Math.min(...goodput))}`,
    `recovery: ${worst(samples.map(({ recoveryMs }) => recoveryMs))} ms at worst; a shed request by a served one: ${formatRatio(median(shedCost))} of its CPU time`,
    `newcomers in the flood: ${formatFigure(median(newcomersMs))} ms, the slowest ${worst(newcomersMs)} ms`,
    LEGEND,
  ]
  return {
    sections: [{ title: `Overload; ${CASE}`, results, notes }],
    recorded: { ratios: { 'served in the flood÷ceiling': median(goodput) } },
  }
}
