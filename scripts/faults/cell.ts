import { setTimeout as sleep } from 'node:timers/promises'
import type { FaultyProxy } from '../../test/harness/faulty-proxy/faulty-proxy.ts'
import {
  createResponseStats,
  type ResponseStats,
} from '../../test/harness/traffic/response-stats.ts'
import type { Traffic } from '../../test/harness/traffic/traffic.ts'
import type { AnswerTimes } from './answer-times.ts'
import type { Arrivals } from './arrivals.ts'
import type { Fault, FaultyService } from './faults.ts'

/** What came of one fault. */
export interface Cell {
  service: FaultyService
  fault: string
  tally: ResponseStats
  /** Decisions on limits that the service made alone, because Redis did not answer in time. */
  alone: number
  /** From its end until everything was as in health again; `undefined`: not while we waited. */
  rightAfterMs: number | undefined
  /** Connections that had lost something, and that the service still held when all was right again. */
  leftOpen: number
  /** The longest answer from its begin until everything was as in health again, by the service's own log. */
  longestMs: number
}

export interface CellPlan {
  service: FaultyService
  fault: Fault
  /** Before every node of that service. */
  proxies: readonly FaultyProxy[]
  arrivals: Arrivals
  traffic: Pick<Traffic, 'nextOverLimit'>
  /** How long the fault lasts, and how long there is none after it, at least. */
  faultMs: number
  restMs: number
  /** Counts what is sent after the fault. */
  backAgain: ResponseStats
  /** Decisions on limits made alone so far. */
  readAlone(): Promise<number>
  answerTimes: AnswerTimes
  signal: AbortSignal
}

/** More than a bucket in Redis and one in the process have together: some have to be refused. */
export const GREEDY_BURST = 80
/** For so long everything has to be right before the next fault. */
const RIGHT_MS = 500
const PATIENCE_MS = 60_000
const LOOK_MS = 50

/** Begins a fault while requests arrive, ends it, and waits until all is right again. */
export async function suffer(plan: CellPlan): Promise<Cell> {
  const { service, fault, proxies, arrivals, traffic, backAgain, readAlone, answerTimes, signal } =
    plan
  const mayFail = service === 'OpenSearch'
  const tally = createResponseStats()
  const aloneBefore = await readAlone()
  await answerTimes.longestMs() // Those before the fault are not of it.
  arrivals.enter({ tally, isFault: true, mayFail })
  await Promise.all(proxies.map(fault.begin))
  const burst = service === 'Redis' ? GREEDY_BURST : 0
  for (let sent = 0; sent < burst; sent++) arrivals.send(traffic.nextOverLimit())
  await sleep(plan.faultMs, undefined, { signal })
  await Promise.all(proxies.map(fault.end))
  const rest = arrivals.enter({ tally: backAgain, isFault: false, mayFail })
  const patientUntil = performance.now() + PATIENCE_MS
  const alone = (await readAlone()) - aloneBefore
  await sleep(plan.restMs, undefined, { signal })
  const isOver = () => rest.isRight(RIGHT_MS) && countOf(proxies, 'broken') === 0
  while (!isOver() && performance.now() < patientUntil) await sleep(LOOK_MS, undefined, { signal })
  return {
    service,
    fault: fault.name,
    tally,
    alone,
    rightAfterMs: rest.isRight(RIGHT_MS) ? rest.rightAfterMs() : undefined,
    leftOpen: countOf(proxies, 'broken'),
    longestMs: await answerTimes.longestMs(),
  }
}

/** Connections through these proxies. */
export function countOf(proxies: readonly FaultyProxy[], which: 'open' | 'broken'): number {
  return proxies.reduce((sum, proxy) => sum + proxy.connections()[which], 0)
}
