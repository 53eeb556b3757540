import { beforeEach, expect, it } from 'vitest'
import type { Limiter } from '../../../src/rate-limit/limiter.ts'
import { createInstrumentedLimiter } from '../../../src/rate-limit/limiter.ts'

const PASSES = { allowed: true, remaining: 19, resetSeconds: 1, retryAfterSeconds: 0 }
const DENIED = { allowed: false, remaining: 0, resetSeconds: 2, retryAfterSeconds: 1 }

let decisions: [string, boolean][]
beforeEach(() => {
  decisions = []
})

/** A limiter that allows or denies everything, and the reported decisions. */
function limiterThat(passes: boolean): Limiter {
  const limiter = {
    take: async () => (passes ? PASSES : DENIED),
    blockedSeconds: async () => (passes ? 0 : 42),
    countFailure: async () => (passes ? 0 : 42),
  }
  return createInstrumentedLimiter(limiter, (...decision) => decisions.push(decision))
}

it.each([true, false])(
  'the instrumented limiter reports every decision, allowed: %s',
  async (isAllowed) => {
    const limiter = limiterThat(isAllowed)
    await limiter.take('acc_1')
    await limiter.blockedSeconds('1.2.3.4')
    await limiter.countFailure('1.2.3.4')
    expect(decisions).toEqual([
      ['take', isAllowed],
      ['blocked', isAllowed],
      ['count_failure', isAllowed],
    ])
  },
)

it('the instrumented limiter returns the decisions of the wrapped limiter', async () => {
  expect(await limiterThat(true).take('acc_1')).toBe(PASSES)
  expect(await limiterThat(false).take('acc_1')).toBe(DENIED)
  expect(await limiterThat(false).blockedSeconds('1.2.3.4')).toBe(42)
  expect(await limiterThat(false).countFailure('1.2.3.4')).toBe(42)
})
