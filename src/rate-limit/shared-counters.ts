import { type Clock, monotonicClock } from '../lib/clock.ts'
import type { DenialMemory } from './denial-memory.ts'
import { type BucketRate, bucketDecision } from './gcra.ts'
import type { Limiter } from './limiter.ts'

/**
 * The counters of a {@link Limiter} that processes share. A backend implements these calls, and the
 * rules of that port for time, entries and keys apply to them.
 */
export interface SharedCounters {
  /** Takes one request from the account's bucket if one is left; `debt` is that after the call. */
  takeFromBucket(accountId: string, rate: BucketRate): Promise<{ isAllowed: boolean; debt: number }>
  /** Milliseconds until the address is unblocked, or 0. Read-only. */
  blockedMs(address: string): Promise<number>
  /**
   * Counts a failed authentication. For a blocked address, returns the milliseconds left instead.
   */
  countFailure(address: string): Promise<number>
}

/** Shared counters with their connection. */
export interface ConnectedCounters {
  counters: SharedCounters
  /** Replaces an unresponsive connection. */
  reconnect(): void
  /** Closes without waiting for the counters. */
  close(): void
}

export interface CountersLimiterOptions {
  rate: BucketRate
  /** Receives every denial. */
  denials?: Pick<DenialMemory, 'recordEmpty' | 'recordBlock'>
  /** The clock of `denials`. */
  clock?: Clock
}

/** A limiter on shared counters, which rejects when they do. */
export function createCountersLimiter(
  counters: SharedCounters,
  { rate, denials, clock = monotonicClock }: CountersLimiterOptions,
): Limiter {
  async function secondsLeft(address: string, query: () => Promise<number>) {
    const queriedAt = clock()
    const ms = await query()
    if (ms > 0) denials?.recordBlock(address, ms, queriedAt)
    return Math.ceil(ms / 1000)
  }

  return {
    async take(accountId) {
      const queriedAt = clock()
      const { isAllowed, debt } = await counters.takeFromBucket(accountId, rate)
      if (!isAllowed) denials?.recordEmpty(accountId, debt, queriedAt)
      return bucketDecision(rate, isAllowed, debt)
    },
    blockedSeconds: (address) => secondsLeft(address, () => counters.blockedMs(address)),
    countFailure: (address) => secondsLeft(address, () => counters.countFailure(address)),
  }
}
