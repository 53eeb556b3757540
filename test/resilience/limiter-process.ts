import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect } from 'vitest'
import { monotonicClock } from '../../src/lib/clock.ts'
import { noopInstrument } from '../../src/lib/instrument.ts'
import { createMetrics } from '../../src/observability/metrics/registry.ts'
import type { BucketRate } from '../../src/rate-limit/gcra.ts'
import { createMemoryLimiter } from '../../src/rate-limit/memory-limiter.ts'
import { createSharedLimiter } from '../../src/rate-limit/shared-limiter.ts'
import { connectRedis, RELAXED, type Timeouts } from '../../src/stores/redis/client.ts'
import { createRedisCounters } from '../../src/stores/redis/shared-counters.ts'
import type { RunningRedis } from '../harness/services/redis.ts'

const RATE: BucketRate = { capacity: 1_000, refillPerSecond: 1 }

let prefix: string
const closers: (() => unknown)[] = []
beforeEach(() => {
  prefix = `test-${randomUUID()}:`
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** Cleanups of a test, in reverse order. */
export const onTestEnd = (close: () => unknown) => closers.push(close)

export interface ProcessOptions {
  ca?: string
  deadlineMs?: number
  timeouts?: Timeouts
}

/** Timeouts for tests without delays, so that a busy machine does not fail them. */
export const RELAXED_TIMEOUTS: ProcessOptions = { deadlineMs: 5_000, timeouts: RELAXED }

export type LimiterProcess = Awaited<ReturnType<typeof openLimiterProcess>>

/** The limits of one API process; processes with the same Redis share them. */
export async function openLimiterProcess(urls: readonly string[], options: ProcessOptions = {}) {
  const { ca, timeouts, ...timing } = options
  const recorded = { errors: [] as string[], states: [] as boolean[], localDecisions: 0 }
  const metrics = createMetrics()
  const connection = await connectRedis({
    urls,
    ca,
    ...(timeouts && { timeouts }),
    onError: ({ message }) => recorded.errors.push(message),
  })
  const limiter = createSharedLimiter(
    { ...connection, counters: createRedisCounters(connection.redis, prefix) },
    {
      rate: RATE,
      local: createMemoryLimiter(RATE, monotonicClock),
      ...timing,
      onFallbackDecision(decision) {
        recorded.localDecisions += 1
        metrics.fallbackDecisions.inc({ decision })
      },
      instrumentCounters: noopInstrument,
      onDegraded: () => recorded.states.push(true),
      onRecovered: () => recorded.states.push(false),
    },
  )
  closers.push(limiter.close)
  return { ...connection, limiter, metrics, recorded }
}

export function send(signal: NodeJS.Signals, { pid }: RunningRedis): void {
  if (pid === undefined) throw new Error('this Redis has ended')
  process.kill(pid, signal)
}

/** Calls each operation once; a rejection fails the test. */
export async function callEveryDecision({ limiter }: LimiterProcess): Promise<void> {
  await limiter.take('acc_1')
  await limiter.blockedSeconds('1.2.3.4')
  await limiter.countFailure('5.6.7.8')
}

/** The number of the three decisions that the process makes locally. */
export async function countLocalDecisions(one: LimiterProcess): Promise<number> {
  const before = one.recorded.localDecisions
  await callEveryDecision(one)
  return one.recorded.localDecisions - before
}

/** Makes decisions for a while at the rate of a busy process. */
export async function callDecisionsFor(one: LimiterProcess, ms: number): Promise<void> {
  const end = performance.now() + ms
  while (performance.now() < end) {
    await callEveryDecision(one)
    await sleep(2)
  }
}

/** Makes decisions until Redis makes all of them, or none. */
export async function waitUntilDecisionsAre(
  one: LimiterProcess,
  expected: 'shared' | 'local',
): Promise<void> {
  const count = expected === 'shared' ? 0 : 3
  await expect.poll(() => countLocalDecisions(one), { interval: 10 }).toBe(count)
}

/** Waits until one process counts a request to the other. */
export async function waitUntilShared(one: LimiterProcess, other: LimiterProcess): Promise<void> {
  async function countedByOther() {
    const { remaining } = await one.limiter.take('acc_2')
    return remaining - (await other.limiter.take('acc_2')).remaining
  }
  await expect.poll(countedByOther, { interval: 100 }).toBe(1)
}
