import { LRUCache } from 'lru-cache'
import type { Clock } from '../lib/clock.ts'
import { type BucketDecision, type BucketRate, type BucketState, takeFromBucket } from './gcra.ts'
import type { Limiter } from './limiter.ts'

/**
 * Denials of shared counters, for as long as the counters would repeat them. Until a bucket has
 * its next token, other processes can only delay it, and a block ends with its window.
 */
export interface DenialMemory {
  /** The denial of an empty bucket; `undefined` when only the counters can decide. */
  take(accountId: string): BucketDecision | undefined
  /** Whole seconds until the address is unblocked; 0 when only the counters can decide. */
  blockedSeconds(address: string): number
  /** Records a denied request: the debt of the bucket, and when the counters were queried. */
  recordEmpty(accountId: string, debt: number, queriedAtMs: number): void
  /** Records a block: its rest in milliseconds, and when the counters were queried. */
  recordBlock(address: string, ms: number, queriedAtMs: number): void
}

/** Bounds how long counters that were deleted, or a clock that was set, have no effect. */
const MAX_AGE_MS = 1_000
/** Queries the counters this much early, because their clock can run faster than ours. */
const MARGIN_MS = 2
const MAX_ENTRIES = 10_000

interface Block {
  queriedAtMs: number
  endsAtMs: number
}

/** `clock` is monotonic milliseconds, as are the times of the records. */
export function createDenialMemory(rate: BucketRate, clock: Clock): DenialMemory {
  const empty = new LRUCache<string, BucketState>({ max: MAX_ENTRIES })
  const blocks = new LRUCache<string, Block>({ max: MAX_ENTRIES })

  return {
    take(accountId) {
      const state = empty.get(accountId)
      if (state === undefined) return undefined
      const nowMicros = toMicros(clock())
      if (nowMicros - state.atMicros >= toMicros(MAX_AGE_MS)) return undefined
      const { allowed } = takeFromBucket(rate, state, nowMicros + toMicros(MARGIN_MS)).decision
      return allowed ? undefined : takeFromBucket(rate, state, nowMicros).decision
    },

    blockedSeconds(address) {
      const block = blocks.get(address)
      if (block === undefined) return 0
      const now = clock()
      if (now - block.queriedAtMs >= MAX_AGE_MS || now + MARGIN_MS >= block.endsAtMs) return 0
      return Math.ceil((block.endsAtMs - now) / 1000)
    },

    recordEmpty(accountId, debt, queriedAtMs) {
      empty.set(accountId, { debt, atMicros: toMicros(queriedAtMs) })
    },

    recordBlock(address, ms, queriedAtMs) {
      blocks.set(address, { queriedAtMs, endsAtMs: queriedAtMs + ms })
    },
  }
}

/** A limiter that repeats the denials in `memory`, and decides everything else. */
export function repeatDenials(limiter: Limiter, memory: DenialMemory): Limiter {
  return {
    take: async (accountId) => memory.take(accountId) ?? limiter.take(accountId),
    blockedSeconds: async (address) =>
      memory.blockedSeconds(address) || limiter.blockedSeconds(address),
    countFailure: async (address) =>
      memory.blockedSeconds(address) || limiter.countFailure(address),
  }
}

const toMicros = (ms: number) => Math.floor(ms * 1000)
