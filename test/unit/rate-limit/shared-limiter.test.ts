import { afterEach, expect, it, vi } from 'vitest'
import { createMemoryLimiter } from '../../../src/rate-limit/memory-limiter.ts'
import type { SharedCounters } from '../../../src/rate-limit/shared-counters.ts'
import { createSharedLimiter } from '../../../src/rate-limit/shared-limiter.ts'

const RATE = { capacity: 2, refillPerSecond: 1 }

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

/** A shared limiter on counters that deny everything, some calls replaced. */
function open(replaced: Partial<SharedCounters> = {}) {
  const close = vi.fn()
  const events = { onFallbackDecision: vi.fn(), onDegraded: vi.fn(), onRecovered: vi.fn() }
  const queries: string[] = []
  const counters = {
    takeFromBucket: async () => ({ isAllowed: false, debt: 2_000_000 }),
    blockedMs: async () => 0,
    countFailure: async () => 60_000,
    ...replaced,
  }
  const limiter = createSharedLimiter(
    { counters, reconnect() {}, close },
    {
      ...events,
      rate: RATE,
      local: createMemoryLimiter(RATE, () => 5_000),
      deadlineMs: 5_000,
      instrumentCounters(decision, call) {
        queries.push(decision)
        return call()
      },
    },
  )
  closers.push(limiter.close)
  return { limiter, close, queries, ...events }
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

it('a shared limiter closes the connection of its counters', () => {
  const { limiter, close } = open()
  limiter.close()
  expect(close).toHaveBeenCalledOnce()
})
