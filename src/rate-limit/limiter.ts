import type { BucketDecision } from './gcra.ts'

/** The counters behind the limits. Each call is one decision, atomic under concurrency. */
export interface Limiter {
  /** Takes one request from the account's bucket. */
  take(accountId: string): Promise<BucketDecision>
  /** Whole seconds for which the address is blocked; 0 when it is not. Counts nothing. */
  blockedSeconds(address: string): Promise<number>
  /** Counts a failed authentication, or, when the address is blocked, tells for how many seconds. */
  countFailure(address: string): Promise<number>
}
