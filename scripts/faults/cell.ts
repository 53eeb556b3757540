import { setTimeout as sleep } from 'node:timers/promises'
import type { FaultyProxy } from '../../test/harness/faulty-proxy/faulty-proxy.ts'
import {
  createResponseStats,
  type ResponseStats,
} from '../../test/harness/traffic/response-stats.ts'
import type { Traffic } from '../../test/harness/traffic/traffic.ts'
import type { Arrivals } from './arrivals.ts'
import type { Fault, FaultyService } from './faults.ts'
import type { ResponseTimes } from './response-times.ts'

/** The outcome of one fault. */
export interface Cell {
  service: FaultyService
  fault: string
  stats: ResponseStats
  /** Rate-limit decisions that the service made alone, since Redis did not respond in time. */
  alone: number
  /** From its end until all responses were healthy; `undefined`: not before the timeout. */
  rightAfterMs: number | undefined
  /** Damaged connections that the service still held when all responses were healthy. */
  leftOpen: number
  /** The longest response from its start until all were healthy, by the log of the service. */
  longestMs: number
}

export interface CellPlan {
  service: FaultyService
  fault: Fault
  /** One before each node of that service. */
  proxies: readonly FaultyProxy[]
  arrivals: Arrivals
  traffic: Pick<Traffic, 'nextOverLimit'>
  /** The duration of the fault, and the minimum time after it. */
  faultMs: number
  restMs: number
  /** Counts requests after the fault. */
  backAgain: ResponseStats
  /** Rate-limit decisions made alone so far. */
  readAlone(): Promise<number>
  responseTimes: ResponseTimes
  signal: AbortSignal
}

/** More than the buckets in Redis and in the process allow together, so some are rejected. */
export const GREEDY_BURST = 80
/** All responses are healthy for so long before the next fault. */
const RIGHT_MS = 500
const TIMEOUT_MS = 60_000
const CHECK_MS = 50

/** Injects a fault while requests arrive, ends it, and waits for healthy responses. */
export async function suffer(plan: CellPlan): Promise<Cell> {
  const {
    service,
    fault,
    proxies,
    arrivals,
    traffic,
    backAgain,
    readAlone,
    responseTimes,
    signal,
  } = plan
  const mayFail = service === 'OpenSearch'
  const stats = createResponseStats()
  const aloneBefore = await readAlone()
  await responseTimes.longestMs() // Discards responses before the fault.
  arrivals.enter({ stats, isFault: true, mayFail })
  await Promise.all(proxies.map(fault.begin))
  const burst = service === 'Redis' ? GREEDY_BURST : 0
  for (let sent = 0; sent < burst; sent++) arrivals.send(traffic.nextOverLimit())
  await sleep(plan.faultMs, undefined, { signal })
  await Promise.all(proxies.map(fault.end))
  const rest = arrivals.enter({ stats: backAgain, isFault: false, mayFail })
  const deadline = performance.now() + TIMEOUT_MS
  const alone = (await readAlone()) - aloneBefore
  await sleep(plan.restMs, undefined, { signal })
  const isOver = () => rest.isRight(RIGHT_MS) && countOf(proxies, 'broken') === 0
  while (!isOver() && performance.now() < deadline) await sleep(CHECK_MS, undefined, { signal })
  return {
    service,
    fault: fault.name,
    stats,
    alone,
    rightAfterMs: rest.isRight(RIGHT_MS) ? rest.rightAfterMs() : undefined,
    leftOpen: countOf(proxies, 'broken'),
    longestMs: await responseTimes.longestMs(),
  }
}

/** Connections through these proxies. */
export function countOf(proxies: readonly FaultyProxy[], which: 'open' | 'broken'): number {
  return proxies.reduce((sum, proxy) => sum + proxy.connections()[which], 0)
}
