import type { BucketDecision } from './gcra.ts'

/** The calls of {@link Limiter}, as metrics label them. */
export type LimiterDecision = 'take' | 'blocked' | 'count_failure'

/**
 * Counters for rate limits and IP blocks. Each call is one atomic decision.
 *
 * Where processes share counters, time is that of the store, because the clocks of processes
 * differ. Repeated denials (`denial-memory.ts`) measure elapsed time only.
 *
 * A call to shared counters may reject, and may take any time: `fallback-limiter.ts` replaces it
 * after 50 ms. Counters of one process never reject and wait for nothing.
 *
 * The number of addresses is unbounded, so shared entries must expire: a bucket once it is full,
 * failures with their window. An entry that expires earlier allows too much. Keys have 1 to 69
 * characters: ASCII letters, digits and `_ - . : / ~`. Accounts and addresses with the same key
 * count apart.
 */
export interface Limiter {
  /** Consumes one request of the account's bucket. */
  take(accountId: string): Promise<BucketDecision>
  /** Whole seconds until the address is unblocked, or 0. Read-only. */
  blockedSeconds(address: string): Promise<number>
  /** Counts a failed authentication. For a blocked address, returns the seconds left instead. */
  countFailure(address: string): Promise<number>
}

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
