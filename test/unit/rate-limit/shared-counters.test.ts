import { expect, it } from 'vitest'
import {
  createCountersLimiter,
  type SharedCounters,
} from '../../../src/rate-limit/shared-counters.ts'

const RATE = { capacity: 2, refillPerSecond: 1 }

/** Counters whose methods need their object. */
class StatefulCounters implements SharedCounters {
  #debt = 0
  #failures = 0

  async takeFromBucket() {
    this.#debt += 1_000_000
    return { isAllowed: true, debt: this.#debt }
  }

  async blockedMs() {
    return this.#failures * 1_000
  }

  async countFailure() {
    this.#failures += 1
    return 0
  }
}

it('a limiter calls shared counters as methods', async () => {
  const limiter = createCountersLimiter(new StatefulCounters(), { rate: RATE })
  expect(await limiter.take('acc_1')).toMatchObject({ allowed: true, remaining: 1 })
  expect(await limiter.countFailure('1.2.3.4')).toBe(0)
  expect(await limiter.blockedSeconds('1.2.3.4')).toBe(1)
})
