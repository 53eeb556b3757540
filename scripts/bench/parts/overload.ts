import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClosedLoop } from '../measuring/closed-loop.ts'
import { residentBytes } from '../measuring/cpu.ts'
import { median, percentile, sum, summarize } from '../measuring/figures.ts'
import { type Arrival, createOpenLoop } from '../measuring/open-loop.ts'
import type { LoadRequest } from '../measuring/request.ts'
import { type RunningApi, type Settings, startApi } from '../measuring/service.ts'
import { checkedRequests, issueKeys, servicePages } from '../orders/pages.ts'
import { fillServiceIndex } from '../orders/stores.ts'
import type { Part, PartReport } from '../part.ts'
import { failureLines } from '../reporting/comparison.ts'
import { formatFigure, formatRatio, renderTable } from '../reporting/table.ts'

const CASE = 'small created 20'
const CHECKING_CONNECTIONS = 8
/** OpenSearch compiles frequent code; without a warm-up the ceiling would rise from round to round. */
const WARM_UP_MS = 20_000
const LOOP_WARM_UP_MS = 3_000
const CLOSED_LOOPS = [16, 64]
const FLOOD = 3
const FLOOD_SECONDS = 30
const CALM = 0.5
const CALM_SECONDS = 10
const PROBE_MS = 500
const SHED = 'status 503'
const LIMITED = 'status 429'
const COLUMNS = ['', '/s', 'served/s', '503', '429', 'p50 ms', 'p99 ms', '503 p99 ms']
const LEGEND = `ceiling: a closed loop; flood: three times the ceiling arrives for 30 s, however slow the service is; calm: half the ceiling, right after it
newcomer: a request on its own connection; p50, p99: of served requests; 503, 429: answers of all rounds; goodput: served in the flood, of the ceiling
recovery: from the start of the calm to the last request that was not served, at worst
µs: CPU time of the API's process for an answer; shed only: measured while the only slot is occupied`

interface LoadPlan {
  settings: Settings
  requests: readonly LoadRequest[]
  /** Of the closed loops. */
  seconds: number
  signal: AbortSignal
}

/** What remains of the service at three times its ceiling. */
export const overloadPart: Part = {
  name: 'overload',
  about: 'three times the ceiling of the API',
  async measure(context, scope) {
    const { cases, options, settings, signal, log } = context
    const { rounds, seconds, connections } = options
    const { services } = await fillServiceIndex(context, scope)
    const of = cases.filter(({ name }) => name === CASE)
    const keys = await issueKeys(of, services)
    const requests: LoadRequest[] = []
    for (const one of of) {
      await using server = await startApi(settings)
      await using loop = createClosedLoop({ origins: [server.origin] }, CHECKING_CONNECTIONS)
      const source = servicePages(context, { name: 'api', loop, keys })
      requests.push(...(await checkedRequests(context, source, one)))
      log('warming up …')
      await loop.run(requests, WARM_UP_MS, signal)
    }
    const plan = { settings, requests, seconds, signal }
    const samples: OverloadSample[] = []
    while (samples.length < rounds) {
      const sample = await measureOverload(plan)
      samples.push(sample)
      log(`round ${samples.length}/${rounds}: ${describeOverload(sample)}`)
    }
    log('shedding only …')
    return reportOverload({ case: CASE, shed: await measureShedCost(plan, connections), samples })
  },
}

/** One process at its ceiling, at three times as much, and at half of it. */
export interface OverloadSample {
  /** Answers per second in a closed loop, with the connections that get the most. */
  ceiling: number
  connections: number
  /** CPU time of the API's process for an answer at the ceiling. */
  servedMicros: number
  flood: ArrivalFigures & Awaited<ReturnType<ReturnType<typeof probe>['end']>> & { cpu: number }
  calm: ArrivalFigures & {
    /** From the start of the calm to the last request that was not served. */
    recoveryMs: number
  }
}

/** Each round has its own process, so that it starts with the same memory. */
async function measureOverload(plan: LoadPlan): Promise<OverloadSample> {
  const { requests, settings, signal } = plan
  await using api = await startApi(settings)
  await using loop = createOpenLoop({ origins: [api.origin] })
  const ceilings = []
  for (const connections of CLOSED_LOOPS) {
    ceilings.push(await measureCeiling(api, connections, plan))
  }
  const best = ceilings.reduce((a, b) => (b.ceiling > a.ceiling ? b : a))

  const probing = probe(api, requests)
  const before = await api.cpuMicros()
  const startedAt = performance.now()
  const floodRate = Math.round(FLOOD * best.ceiling)
  const flood = await loop.run(requests, { rate: floodRate, seconds: FLOOD_SECONDS, signal })
  const floodMs = performance.now() - startedAt
  const cpu = ((await api.cpuMicros()) - before) / 1000 / floodMs
  const probed = await probing.end()

  const calmAt = performance.now()
  const calmRate = Math.round(CALM * best.ceiling)
  const calm = await loop.run(requests, { rate: calmRate, seconds: CALM_SECONDS, signal })
  const rejected = calm.filter(({ failure }) => failure !== undefined)
  const recoveryMs = Math.max(0, ...rejected.map(({ sentAt }) => sentAt - calmAt))
  return {
    ...best,
    flood: { ...arrivalFigures(flood, floodMs), ...probed, cpu },
    calm: { ...arrivalFigures(calm, 1000 * CALM_SECONDS), recoveryMs },
  }
}

async function measureCeiling(
  api: RunningApi,
  connections: number,
  { requests, seconds, signal }: LoadPlan,
) {
  await using loop = createClosedLoop({ origins: [api.origin] }, connections)
  await loop.run(requests, LOOP_WARM_UP_MS, signal)
  const before = await api.cpuMicros()
  const { answers, perSecond, failures } = await loop.run(requests, 1000 * seconds, signal)
  const servedMicros = ((await api.cpuMicros()) - before) / answers
  const [failure] = Object.keys(failures)
  if (failure !== undefined) throw new Error(`below the ceiling: ${failure}`)
  return { ceiling: perSecond, connections, servedMicros }
}

/** Reads a process's memory twice a second, and times its operations port and a new connection. */
function probe(api: RunningApi, [request]: readonly LoadRequest[]) {
  const megabytes: number[] = []
  const newcomersMs: number[] = []
  const operations: number[] = []
  const ending = new AbortController()

  async function timed(work: () => Promise<unknown>, into: number[]): Promise<void> {
    const startedAt = performance.now()
    await work()
    into.push(performance.now() - startedAt)
  }
  const readMemory = async () => void megabytes.push(residentBytes(await api.metrics()) / 2 ** 20)
  const connectAnew = async () => {
    const headers = { ...request?.headers, connection: 'close' }
    await fetch(`${api.origin}${request?.path}`, { headers })
  }
  async function probeUntilEnd(): Promise<void> {
    await timed(readMemory, operations)
    while (!ending.signal.aborted) {
      await sleep(PROBE_MS)
      await Promise.all([timed(readMemory, operations), timed(connectAnew, newcomersMs)])
    }
  }
  const probing = probeUntilEnd()

  return {
    async end() {
      ending.abort()
      await probing
      const [before = Number.NaN, ...during] = megabytes
      const half = Math.ceil(during.length / 2)
      const mean = (values: readonly number[]) => sum(values) / values.length
      const [firstHalf, secondHalf] = [mean(during.slice(0, half)), mean(during.slice(half))]
      return {
        /** Megabytes at the ceiling, and in the flood. */
        memory: { before, most: Math.max(...during), firstHalf, secondHalf },
        operationsMs: Math.max(...operations),
        newcomers: { p50Ms: median(newcomersMs), mostMs: Math.max(...newcomersMs) },
      }
    },
  }
}

interface ArrivalFigures {
  /** Requests sent per second. */
  offered: number
  served: number
  shed: number
  limited: number
  /** Any other outcome → how often. */
  failures: Record<string, number>
  servedPerSecond: number
  servedP50Ms: number
  servedP99Ms: number
  shedP99Ms: number
}

/** Counts answers by their outcome. */
export function arrivalFigures(arrivals: readonly Arrival[], ms: number): ArrivalFigures {
  const byOutcome = Map.groupBy(arrivals, ({ failure }) => failure ?? 'served')
  const times = (outcome: string) =>
    Float64Array.from(byOutcome.get(outcome) ?? [], (arrival) => arrival.ms).sort()
  const [served, shed, limited] = [times('served'), times(SHED), times(LIMITED)]
  const at = (sorted: Float64Array, share: number) =>
    sorted.length > 0 ? percentile(sorted, share) : Number.NaN
  const expected = ['served', SHED, LIMITED]
  const others = [...byOutcome].filter(([outcome]) => !expected.includes(outcome))
  return {
    offered: (1000 * arrivals.length) / ms,
    ...{ served: served.length, shed: shed.length, limited: limited.length },
    failures: Object.fromEntries(others.map(([outcome, those]) => [outcome, those.length])),
    servedPerSecond: (1000 * served.length) / ms,
    servedP50Ms: at(served, 0.5),
    servedP99Ms: at(served, 0.99),
    shedP99Ms: at(shed, 0.99),
  }
}

interface ShedCost {
  /** Of the API's process, for an answer. */
  cpuMicros: number
  perSecond: number
  /** Answers other than 503 → how often. */
  failures: Record<string, number>
}

/**
 * The cost of shedding alone: a request that waits for an unresponsive OpenSearch occupies the only
 * slot, so the service sheds all others.
 */
async function measureShedCost(
  { settings, requests: [request], seconds, signal }: LoadPlan,
  connections: number,
): Promise<ShedCost> {
  if (!request) throw new Error(`there is no page of ${CASE}`)
  await using scope = new AsyncDisposableStack()
  // A silent store would delay the start of the service until its deadline.
  const decline: RequestListener = (_request, response) => response.writeHead(503).end()
  const store = createServer(decline)
  await once(store.listen(0, '127.0.0.1'), 'listening')
  scope.defer(() => {
    store.close()
    store.closeAllConnections()
  })
  const { port } = store.address() as AddressInfo
  const api = scope.use(
    await startApi({
      ...settings,
      OPENSEARCH_URL: `http://127.0.0.1:${port}`,
      REQUEST_DEADLINE_MS: '60000',
      SEARCH_DEADLINE_MS: '60000',
      MAX_CONCURRENT_REQUESTS: '1',
    }),
  )
  store.off('request', decline)
  const loop = scope.use(createClosedLoop({ origins: [api.origin] }, connections))
  const occupying = new AbortController()
  scope.defer(() => occupying.abort())
  const { headers } = request
  fetch(`${api.origin}${request.path}`, { headers, signal: occupying.signal }).catch(() => {})
  await loop.run([request], LOOP_WARM_UP_MS, signal)
  const before = await api.cpuMicros()
  const { answers, perSecond, failures } = await loop.run([request], 1000 * seconds, signal)
  const cpuMicros = ((await api.cpuMicros()) - before) / answers
  const { [SHED]: shed = 0, ...others } = failures
  const served = answers - sum(Object.values(failures))
  if (shed === 0) throw new Error('the service shed no request')
  return { cpuMicros, perSecond, failures: served > 0 ? { ...others, served } : others }
}

export interface OverloadComparison {
  case: string
  shed: ShedCost
  /** One each round. */
  samples: readonly OverloadSample[]
}

const goodputOf = ({ flood, ceiling }: OverloadSample) => flood.servedPerSecond / ceiling

export function overloadFigures({ shed, samples, ...rest }: OverloadComparison) {
  const { flood, calm, ceiling, servedMicros } = summarize(samples)
  const { operationsMs, newcomers, memory } = flood
  const shedMicrosInFlood = samples.map((sample) => {
    const { served, servedPerSecond, shed: count, cpu } = sample.flood
    const seconds = served / servedPerSecond
    return (1e6 * cpu * seconds - served * sample.servedMicros) / count
  })
  return {
    ...rest,
    ceiling,
    goodput: median(samples.map(goodputOf)),
    worstGoodput: Math.min(...samples.map(goodputOf)),
    servedMicros,
    shedMicros: shed.cpuMicros,
    shedPerServed: shed.cpuMicros / servedMicros,
    /** The cost in the flood, without that of served answers. */
    shedMicrosInFlood: median(shedMicrosInFlood),
    ...{ recoveryMs: calm.recoveryMs, operationsMs, newcomers, memory, shed, rounds: samples },
  }
}

export function reportOverload(comparison: OverloadComparison): PartReport {
  const { shed, samples } = comparison
  const figures = overloadFigures(comparison)
  const { flood, calm } = summarize(samples)
  const text = formatFigure
  const row = (name: string, one: ArrivalFigures) => [
    ...[name, text(one.offered), text(one.servedPerSecond), `${one.shed}`, `${one.limited}`],
    ...[text(one.servedP50Ms), text(one.servedP99Ms), text(one.shedP99Ms)],
  ]
  const ceiling = text(figures.ceiling)
  const atCeiling = ['ceiling', ceiling, ceiling, '0', '0', '-', '-', '-']
  const megabytes = Object.entries(figures.memory).map(([when, mb]) => `${when} ${text(mb)}`)
  const table = `Overload; ${figures.case}

${renderTable(COLUMNS, [atCeiling, row('flood', flood), row('calm', calm)])}
goodput: ${formatRatio(figures.goodput)} of the ceiling, at worst ${formatRatio(figures.worstGoodput)}; recovery: ${text(figures.recoveryMs / 1000)} s
µs: served ${text(figures.servedMicros)}, shed only ${text(figures.shedMicros)} (${formatRatio(figures.shedPerServed)}), shed in the flood ${text(figures.shedMicrosInFlood)}
MB: ${megabytes.join(', ')}
in the flood, ms: a newcomer's answer ${text(figures.newcomers.p50Ms)}, the slowest ${text(figures.newcomers.mostMs)}; the slowest of the operations port ${text(figures.operationsMs)}
${LEGEND}`
  const rounds = samples.flatMap(({ flood: during, calm: after }, round) => [
    ...failureLines(`overload, flood ${round + 1}`, during.failures),
    ...failureLines(`overload, calm ${round + 1}`, after.failures),
  ])
  return {
    tables: [table],
    figures,
    ratios: { 'served in the flood÷ceiling': figures.goodput },
    costs: { 'CPU shed÷served': figures.shedPerServed },
    failures: [...failureLines('overload, shedding', shed.failures), ...rounds],
  }
}

function describeOverload({ ceiling, connections, servedMicros, flood, calm }: OverloadSample) {
  const goodput = formatRatio(flood.servedPerSecond / ceiling)
  const atCeiling = `ceiling ${formatFigure(ceiling)}/s with ${connections} connections, ${formatFigure(servedMicros)} µs`
  const during = `flood ${formatFigure(flood.offered)}/s, goodput ${goodput}, p99 ${formatFigure(flood.servedP99Ms)} ms`
  return `${atCeiling}; ${during}; recovery ${formatFigure(calm.recoveryMs / 1000)} s`
}
