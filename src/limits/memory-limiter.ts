import { LRUCache } from 'lru-cache'
import type { Clock } from '../lib/clock.ts'
import { blockedSeconds, type FailureWindow, withFailure } from './failure-window.ts'
import { type BucketRate, takeFromBucket } from './gcra.ts'
import type { Limiter } from './limiter.ts'

// Bounds the memory that strangers can make us spend; far above what one process meets in a window.
const MAX_ENTRIES = 200_000

/** Counters of one process, in memory. `clock` is monotonic milliseconds. */
export function createMemoryLimiter(rate: BucketRate, clock: Clock): Limiter {
  const fullAt = new LRUCache<string, number>({ max: MAX_ENTRIES })
  const windows = new LRUCache<string, FailureWindow>({ max: MAX_ENTRIES })

  return {
    async take(accountId) {
      const { fullAtMs, ...decision } = takeFromBucket(rate, fullAt.get(accountId) ?? 0, clock())
      if (decision.allowed) fullAt.set(accountId, fullAtMs)
      return decision
    },

    async blockedSeconds(address) {
      return blockedSeconds(windows.get(address), clock())
    },

    async countFailure(address) {
      const now = clock()
      const window = windows.get(address)
      const blocked = blockedSeconds(window, now)
      if (blocked === 0) windows.set(address, withFailure(window, now))
      return blocked
    },
  }
}
