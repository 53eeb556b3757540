import { LRUCache } from 'lru-cache'
import type { Clock } from '../lib/clock.ts'
import { blockedSeconds, type FailureWindow, withFailure } from './failed-authentications.ts'
import { type BucketRate, type BucketState, FULL_BUCKET, takeFromBucket } from './gcra.ts'
import type { Limiter } from './limiter.ts'

// Bounds the memory that unauthenticated clients can allocate; far above normal use in a window.
// Unlike `max`, a size reserves no memory up front: 11 MB that most processes never use.
const ENTRIES = { maxSize: 200_000, sizeCalculation: () => 1 }

/** In-memory counters of one process. `clock` is monotonic milliseconds. */
export function createMemoryLimiter(rate: BucketRate, clock: Clock): Limiter {
  const buckets = new LRUCache<string, BucketState>(ENTRIES)
  const windows = new LRUCache<string, FailureWindow>(ENTRIES)

  return {
    async take(accountId) {
      const nowMicros = Math.floor(clock() * 1000)
      const before = buckets.get(accountId) ?? FULL_BUCKET
      const { decision, state } = takeFromBucket(rate, before, nowMicros)
      if (decision.allowed) buckets.set(accountId, state)
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
