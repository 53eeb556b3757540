import { setTimeout as sleep } from 'node:timers/promises'
import { metricsMicros } from '../measuring/cpu.ts'
import { median, percentile } from '../measuring/figures.ts'
import { createGenerator, type LoadRequest } from '../measuring/generator.ts'
import { type Arrival, createOpenLoop } from '../measuring/open-loop.ts'
import { type RunningApi, startApi } from '../measuring/running-api.ts'

/** What a process went through: its ceiling, three times as much, and half of it. */
export interface OverloadSample {
  /** Answers a second in a closed loop, of the connections that get the most. */
  ceiling: number
  connections: number
  /** CPU time of the API's process, an answer, at the ceiling. */
  servedMicros: number
  /** While three times the ceiling arrives. */
  flood: ArrivalFigures & {
    /** CPU time of the API's process, a second, as a share of one CPU. */
    cpu: number
    memory: MemoryFigures
    /** The slowest answer of the operations port. */
    operationsMs: number
    /** How long those took who opened a connection of their own: in the middle, and the slowest. */
    newcomers: { p50Ms: number; mostMs: number }
  }
  /** While half of the ceiling arrives, right after that. */
  calm: ArrivalFigures & {
    /** From its beginning until the last request was sent that was not served. */
    recoveryMs: number
  }
}

export interface ArrivalFigures {
  /** Requests sent a second. */
  offered: number
  served: number
  shed: number
  limited: number
  /** What was none of these → how often. */
  failures: Record<string, number>
  servedPerSecond: number
  servedP50Ms: number
  servedP99Ms: number
  shedP99Ms: number
}

/** Megabytes that the process had: at the ceiling, at most, and in the last seconds on average. */
export interface MemoryFigures {
  before: number
  most: number
  firstHalf: number
  secondHalf: number
}

interface RoundOptions {
  settings: Readonly<Record<string, string>>
  requests: readonly LoadRequest[]
  /** Of the closed loops. */
  seconds: number
  signal: AbortSignal
}

const FLOOD = 3
const FLOOD_SECONDS = 30
const CALM = 0.5
const CALM_SECONDS = 10
const CLOSED_LOOPS = [16, 64]
const WARM_UP_MS = 3_000
const LOOK_MS = 500

/** A process of its own, so that each round begins with the same memory. */
export async function measureOverload(options: RoundOptions): Promise<OverloadSample> {
  const { requests, settings, signal } = options
  const api = await startApi(settings)
  const loop = createOpenLoop({ origins: [api.origin] })
  try {
    const loops = []
    for (const connections of CLOSED_LOOPS) {
      loops.push(await measureCeiling(api, connections, options))
    }
    const best = loops.reduce((a, b) => (b.ceiling > a.ceiling ? b : a))

    const watched = watch(api, requests)
    const before = await watched.look()
    const rate = Math.round(FLOOD * best.ceiling)
    const startedAt = performance.now()
    const flood = await loop.run(requests, { rate, seconds: FLOOD_SECONDS, signal })
    const floodMs = performance.now() - startedAt
    const after = await watched.end()

    const calmAt = performance.now()
    const calmRate = Math.round(CALM * best.ceiling)
    const calm = await loop.run(requests, { rate: calmRate, seconds: CALM_SECONDS, signal })
    const refused = calm.filter(({ failure }) => failure !== undefined)
    return {
      ...best,
      flood: {
        ...figuresOf(flood, floodMs),
        cpu: (after.cpuMicros - before.cpuMicros) / 1000 / floodMs,
        memory: after.memory,
        operationsMs: after.slowestMs,
        newcomers: after.newcomers,
      },
      calm: {
        ...figuresOf(calm, 1000 * CALM_SECONDS),
        recoveryMs: Math.max(0, ...refused.map(({ sentAt }) => sentAt - calmAt)),
      },
    }
  } finally {
    await loop.close()
    await api.stop()
  }
}

async function measureCeiling(
  api: RunningApi,
  connections: number,
  { requests, seconds, signal }: RoundOptions,
) {
  const generator = createGenerator({ origins: [api.origin] }, connections)
  try {
    await generator.run(requests, WARM_UP_MS, signal)
    const before = await api.cpuMicros()
    const { answers, perSecond, failures } = await generator.run(requests, 1000 * seconds, signal)
    const cpuMicros = (await api.cpuMicros()) - before
    const [failure] = Object.keys(failures)
    if (failure !== undefined) throw new Error(`below the ceiling: ${failure}`)
    return { ceiling: perSecond, connections, servedMicros: cpuMicros / answers }
  } finally {
    await generator.close()
  }
}

/** Looks at a process twice a second, and how long its operations port and a newcomer's answer take. */
function watch(api: RunningApi, [request]: readonly LoadRequest[]) {
  const megabytes: number[] = []
  const newcomersMs: number[] = []
  let slowestMs = 0
  let isEnding = false

  async function look() {
    const askedAt = performance.now()
    const metrics = await api.metrics()
    slowestMs = Math.max(slowestMs, performance.now() - askedAt)
    const bytes = Number(/^process_resident_memory_bytes (\S+)/m.exec(metrics)?.[1])
    megabytes.push(bytes / 2 ** 20)
    return { cpuMicros: metricsMicros(metrics) }
  }
  async function comeAnew(): Promise<void> {
    if (!request) return
    const askedAt = performance.now()
    const { path, headers } = request
    await fetch(`${api.origin}${path}`, { headers: { ...headers, connection: 'close' } })
    newcomersMs.push(performance.now() - askedAt)
  }
  async function lookOn(): Promise<void> {
    while (!isEnding) {
      await sleep(LOOK_MS)
      await Promise.all([look(), comeAnew()])
    }
  }
  const looking = lookOn()

  return {
    look,
    async end() {
      const { cpuMicros } = await look()
      isEnding = true
      await looking
      const [before = Number.NaN, ...during] = megabytes
      const half = Math.ceil(during.length / 2)
      const memory = {
        before,
        most: Math.max(...during),
        firstHalf: mean(during.slice(0, half)),
        secondHalf: mean(during.slice(half)),
      }
      const newcomers = { p50Ms: median(newcomersMs), mostMs: Math.max(...newcomersMs) }
      return { cpuMicros, memory, slowestMs, newcomers }
    },
  }
}

/** Counts answers by what they are. */
export function figuresOf(arrivals: readonly Arrival[], ms: number): ArrivalFigures {
  const byOutcome = Map.groupBy(arrivals, ({ failure }) => failure ?? 'served')
  const take = (outcome: string) => {
    const taken = byOutcome.get(outcome) ?? []
    byOutcome.delete(outcome)
    return Float64Array.from(taken.map((arrival) => arrival.ms)).sort()
  }
  const [served, shed, limited] = [take('served'), take('status 503'), take('status 429')] as const
  const at = (times: Float64Array, share: number) =>
    times.length > 0 ? percentile(times, share) : Number.NaN
  const failures = [...byOutcome].map(([what, those]): [string, number] => [what, those.length])
  return {
    offered: (1000 * arrivals.length) / ms,
    served: served.length,
    shed: shed.length,
    limited: limited.length,
    failures: Object.fromEntries(failures),
    servedPerSecond: (1000 * served.length) / ms,
    servedP50Ms: at(served, 0.5),
    servedP99Ms: at(served, 0.99),
    shedP99Ms: at(shed, 0.99),
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
