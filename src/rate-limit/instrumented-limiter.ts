import type { LimiterDecision } from './fallback-limiter.ts'
import type { Limiter } from './limiter.ts'

/** The same limiter, telling of every decision whether the request may go on. */
export function createInstrumentedLimiter(
  limiter: Limiter,
  onDecision: (decision: LimiterDecision, isAllowed: boolean) => void,
): Limiter {
  return {
    async take(accountId) {
      const decision = await limiter.take(accountId)
      onDecision('take', decision.allowed)
      return decision
    },

    async blockedSeconds(address) {
      const seconds = await limiter.blockedSeconds(address)
      onDecision('blocked', seconds === 0)
      return seconds
    },

    async countFailure(address) {
      const seconds = await limiter.countFailure(address)
      onDecision('count_failure', seconds === 0)
      return seconds
    },
  }
}
