import { afterEach, expect, it, vi } from 'vitest'
import { createMemoryLimiter } from '../../../src/rate-limit/memory-limiter.ts'
import type { SharedCounters } from '../../../src/rate-limit/shared-counters.ts'
import { createSharedLimiter } from '../../../src/rate-limit/shared-limiter.ts'
import { holdTime, pass } from './held-time.ts'

const RATE = { capacity: 2, refillPerSecond: 1 }

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
  vi.useRealTimers()
})

const DEADLINE_MS = 70
/** Above the interval of probes and the deadline of one together. */
const PROBE_MS = 100 + DEADLINE_MS

const fails = () => Promise.reject(new Error('connection lost'))
const hangs = () => new Promise<never>(() => {})

/** A shared limiter on counters that deny everything, some calls replaced. */
function open(replaced: Partial<SharedCounters> = {}, deadlineMs = 5_000) {
  const close = vi.fn()
  const reconnect = vi.fn()
  const events = { onFallbackDecision: vi.fn(), onDegraded: vi.fn(), onRecovered: vi.fn() }
  const queries: string[] = []
  const counters = {
    takeFromBucket: async () => ({ isAllowed: false, debt: 2_000_000 }),
    blockedMs: async () => 0,
    countFailure: async () => 60_000,
    ...replaced,
  }
  const limiter = createSharedLimiter(
    { counters, reconnect, close },
    {
      ...events,
      rate: RATE,
      local: createMemoryLimiter(RATE, () => 5_000),
      deadlineMs,
      instrumentCounters(decision, call) {
        queries.push(decision)
        return call()
      },
    },
  )
  closers.push(limiter.close)
  return { limiter, counters, reconnect, close, queries, ...events }
}

it('a shared limiter repeats a denial of the counters without a query', async () => {
  const { limiter, queries } = open()
  const denied = { allowed: false, remaining: 0, resetSeconds: 2, retryAfterSeconds: 1 }
  expect(await limiter.take('acc_1')).toEqual(denied)
  expect(await limiter.take('acc_1')).toEqual(denied)
  expect([await limiter.countFailure('1.2.3.4'), await limiter.blockedSeconds('1.2.3.4')]).toEqual([
    60, 60,
  ])
  expect(queries).toEqual(['take', 'count_failure'])
})

it('a shared limiter decides locally after the counters failed', async () => {
  const error = new Error('connection lost')
  const { limiter, onDegraded, onFallbackDecision } = open({
    takeFromBucket: () => Promise.reject(error),
  })
  expect(await limiter.take('acc_1')).toMatchObject({ allowed: true, remaining: 1 })
  expect(onDegraded.mock.calls).toEqual([[error]])
  expect(onFallbackDecision.mock.calls).toEqual([['take']])
  expect(await limiter.isDegraded()).toBe(true)
})

it('a shared limiter decides locally at its deadline', async () => {
  holdTime()
  const { limiter, onFallbackDecision } = open({ takeFromBucket: hangs }, DEADLINE_MS)
  const decision = limiter.take('acc_1')
  await pass(DEADLINE_MS - 1)
  expect(onFallbackDecision.mock.calls).toEqual([])
  await pass(1)
  expect(await decision).toMatchObject({ allowed: true, remaining: 1 })
})

it('a shared limiter replaces the connection after three probes without a reply', async () => {
  holdTime()
  const { limiter, counters, reconnect, onRecovered } = open({ takeFromBucket: fails }, DEADLINE_MS)
  await limiter.take('acc_1')
  counters.takeFromBucket = hangs
  await pass(2 * PROBE_MS)
  expect(reconnect).not.toHaveBeenCalled()
  await pass(PROBE_MS)
  expect(reconnect).toHaveBeenCalledOnce()
  expect(onRecovered).not.toHaveBeenCalled()
})

it('a shared limiter reports that the counters respond again, and queries them', async () => {
  holdTime()
  const { limiter, counters, queries, onDegraded, onRecovered } = open({ takeFromBucket: fails })
  await limiter.take('acc_1')
  expect(onRecovered).not.toHaveBeenCalled()
  counters.takeFromBucket = async () => ({ isAllowed: true, debt: 1_000_000 })
  await pass(PROBE_MS)
  expect([onDegraded.mock.calls.length, onRecovered.mock.calls.length]).toEqual([1, 1])
  await limiter.take('acc_1')
  expect(queries).toEqual(['take', 'take'])
})

it('a closed shared limiter sends no probe', async () => {
  holdTime()
  const takeFromBucket = vi.fn(fails)
  const { limiter } = open({ takeFromBucket })
  await limiter.take('acc_1')
  limiter.close()
  await pass(10 * PROBE_MS)
  expect(takeFromBucket).toHaveBeenCalledOnce()
})

it('a shared limiter closes the connection of its counters', () => {
  const { limiter, close } = open()
  limiter.close()
  expect(close).toHaveBeenCalledOnce()
})
