import type { Limiter, LimiterDecision } from './limiter.ts'

/** Reports every decision of a limiter, and whether it allowed the request. */
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
