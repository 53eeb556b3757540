import { afterEach, expect, it } from 'vitest'
import { monotonicClock } from '../../../src/lib/clock.ts'
import type { FallbackLimiter } from '../../../src/rate-limit/fallback-limiter.ts'
import type { BucketRate } from '../../../src/rate-limit/gcra.ts'
import type { LimiterDecision } from '../../../src/rate-limit/limiter.ts'
import { createMemoryLimiter } from '../../../src/rate-limit/memory-limiter.ts'
import { createSharedLimiter } from '../../../src/rate-limit/shared-limiter.ts'
import { connectRedis, RELAXED } from '../../../src/stores/redis/client.ts'
import { createRedisCounters } from '../../../src/stores/redis/shared-counters.ts'
import { ownPrefix, redisServers } from '../../contract/limiters-under-test.ts'

const opened: FallbackLimiter[] = []
afterEach(() => {
  for (const limiter of opened.splice(0)) limiter.close()
})

const RATE: BucketRate = { capacity: 20, refillPerSecond: 1 }
const MAX_FAILURES = 30
/** A denial is repeated for at most a second, and a token ends it. */
const QUERIES_PER_SECOND = 3

/** A process that counts in Redis, and the decisions that it sent there. */
async function openProcess(urls: readonly string[], prefix: string, deadlineMs = 60_000) {
  const queries: LimiterDecision[] = []
  const fallbacks: LimiterDecision[] = []
  const connection = await connectRedis({
    urls,
    ca: undefined,
    timeouts: RELAXED,
    onError() {},
  })
  const counters = createRedisCounters(connection.redis, prefix)
  const limiter = createSharedLimiter(
    { ...connection, counters },
    {
      rate: RATE,
      local: createMemoryLimiter(RATE, monotonicClock),
      deadlineMs,
      onFallbackDecision: (decision) => fallbacks.push(decision),
      instrumentCounters: (decision, call) => {
        queries.push(decision)
        return call()
      },
      onDegraded() {},
      onRecovered() {},
    },
  )
  opened.push(limiter)
  return { limiter, queries, fallbacks }
}

/** Calls both in turn, 500 times in total, and returns the responses and the duration. */
async function alternate<T>(calls: readonly (() => Promise<T>)[]) {
  const startedAt = performance.now()
  const answers: T[] = []
  while (answers.length < 500) for (const call of calls) answers.push(await call())
  return { answers, seconds: Math.ceil((performance.now() - startedAt) / 1000) }
}

it.each(redisServers)('refused requests of two processes rarely query Redis', async (...urls) => {
  const prefix = ownPrefix()
  const processes = [await openProcess(urls, prefix), await openProcess(urls, prefix)]
  const { answers, seconds } = await alternate(
    processes.map(
      ({ limiter }) =>
        () =>
          limiter.take('acc_1'),
    ),
  )
  const allowed = answers.filter((decision) => decision.allowed).length
  expect(allowed).toBeGreaterThanOrEqual(RATE.capacity)
  expect(allowed).toBeLessThanOrEqual(RATE.capacity + seconds * RATE.refillPerSecond)
  const queries = processes.flatMap((one) => one.queries)
  expect(queries.length).toBeLessThanOrEqual(allowed + 2 * (1 + seconds) * QUERIES_PER_SECOND)
  expect(processes.flatMap((one) => one.fallbacks)).toEqual([])
})

it.each(redisServers)('failures of a blocked address rarely query Redis', async (...urls) => {
  const prefix = ownPrefix()
  const processes = [await openProcess(urls, prefix), await openProcess(urls, prefix)]
  const { answers, seconds } = await alternate(
    processes.map(
      ({ limiter }) =>
        () =>
          limiter.countFailure('1.2.3.4'),
    ),
  )
  expect(answers.filter((left) => left === 0)).toHaveLength(MAX_FAILURES)
  const queries = processes.flatMap((one) => one.queries)
  expect(queries.length).toBeLessThanOrEqual(MAX_FAILURES + 2 * (1 + seconds) * QUERIES_PER_SECOND)
})

it.each(redisServers)(
  'a turn of the event loop beyond the deadline is no outage',
  async (...urls) => {
    const deadlineMs = 1_000
    const { limiter, fallbacks } = await openProcess(urls, ownPrefix(), deadlineMs)
    for (let round = 0; round < 4; round += 1) {
      await limiter.blockedSeconds('10.0.0.1') // From here on in a callback of the socket.
      const decision = limiter.take('acc_1')
      const blockedUntil = performance.now() + 1.1 * deadlineMs
      while (performance.now() < blockedUntil) {}
      expect((await decision).allowed).toBe(true)
    }
    expect(fallbacks).toEqual([])
  },
)
