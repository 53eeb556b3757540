import { LRUCache } from 'lru-cache'
import { HOUR_MS, MINUTE_MS } from '../lib/durations.ts'
import { retryUntilDeadline } from '../lib/retry-until-deadline.ts'
import { Unavailable } from '../lib/unavailable.ts'
import { withDeadline } from '../lib/with-deadline.ts'
import type { KeyRecord, KeyStore } from './key-store.ts'

const RETRY_MS = MINUTE_MS
/** A waiting request has a slot, and those of other keys need one too. */
const FIRST_USE_MS = 500
const FIRST_USE_RETRY_MS = 1_000
const MAX_KEYS = 10_000

/** When keys last authenticated, from their records and from this process. */
export interface LastUse {
  /** Epoch milliseconds; `-Infinity` when the key never authenticated. */
  of(key: KeyRecord): number
  /**
   * Stores the first use of a key, at `nowMs`. A page that is read before this resolves may be
   * unknown to a load, which then writes orders behind the cursor of that page. Calls for a key share
   * one write, which is repeated for half a second, and its failure for a second.
   * @throws Unavailable when the use is not stored
   */
  storeFirst(key: KeyRecord, nowMs: number): Promise<void>
  /** Records a later use at `nowMs`. Writes to the store at most hourly, in the background. */
  record(key: KeyRecord, nowMs: number): void
}

/**
 * `onFailure` receives a failed write in the background. The next write happens a minute later at
 * the earliest.
 */
export function createLastUse(
  store: Pick<KeyStore, 'update'>,
  onFailure: (key: KeyRecord, error: unknown) => void,
): LastUse {
  const recordedAt = new LRUCache<string, number>({ max: MAX_KEYS })
  const firstUses = new Map<string, Promise<void>>()
  const of = (key: KeyRecord) =>
    Math.max(key.lastValidAt ?? -Infinity, recordedAt.get(key.digest) ?? -Infinity)

  async function writeFirst(digest: string, nowMs: number): Promise<void> {
    const retries = { deadlineMs: FIRST_USE_MS, activity: 'storing the first use of a key' }
    await withDeadline(
      () => retryUntilDeadline(retries, () => store.update(digest, { lastValidAt: nowMs })),
      FIRST_USE_MS,
      () => new Unavailable(`the first use of the key was not stored within ${FIRST_USE_MS} ms`),
    )
    recordedAt.set(digest, nowMs)
  }

  return {
    of,
    storeFirst({ digest }, nowMs) {
      const shared = firstUses.get(digest)
      if (shared !== undefined) return shared
      const stored = writeFirst(digest, nowMs)
      firstUses.set(digest, stored)
      const forget = () => firstUses.delete(digest)
      stored.then(forget, () => setTimeout(forget, FIRST_USE_RETRY_MS).unref())
      return stored
    },
    record(key, nowMs) {
      if (nowMs - of(key) < HOUR_MS) return
      recordedAt.set(key.digest, nowMs)
      store.update(key.digest, { lastValidAt: nowMs }).catch((error) => {
        recordedAt.set(key.digest, nowMs - HOUR_MS + RETRY_MS)
        onFailure(key, error)
      })
    },
  }
}
