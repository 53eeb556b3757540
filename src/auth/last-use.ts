import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { HOUR_MS, MINUTE_MS } from '../lib/durations.ts'
import type { KeyRecord, KeyStore } from './key-store.ts'

const RETRY_MS = MINUTE_MS
/** Retries store the first use within a second: from then on, a load must name its mode. */
const FIRST_USE_RETRY_MS = 200
const FIRST_USE_ATTEMPTS = 5
const MAX_KEYS = 10_000

/** When keys last authenticated, from their records and from this process. */
export interface LastUse {
  /** Epoch milliseconds; `-Infinity` when the key never authenticated. */
  of(key: KeyRecord): number
  /** Records a use at `nowMs`. Writes to the store at most hourly, in the background. */
  record(key: KeyRecord, nowMs: number): void
}

/**
 * `onFailure` receives a failed write, for the first use of a key after all retries. The next write
 * happens a minute later at the earliest.
 */
export function createLastUse(
  store: Pick<KeyStore, 'update'>,
  onFailure: (key: KeyRecord, error: unknown) => void,
): LastUse {
  const recordedAt = new LRUCache<string, number>({ max: MAX_KEYS })
  const of = (key: KeyRecord) =>
    Math.max(key.lastValidAt ?? -Infinity, recordedAt.get(key.digest) ?? -Infinity)

  async function write(digest: string, nowMs: number, attempts: number): Promise<void> {
    try {
      await store.update(digest, { lastValidAt: nowMs })
    } catch (error) {
      if (attempts === 1) throw error
      await pause(FIRST_USE_RETRY_MS, undefined, { ref: false })
      await write(digest, nowMs, attempts - 1)
    }
  }

  return {
    of,
    record(key, nowMs) {
      const usedAt = of(key)
      if (nowMs - usedAt < HOUR_MS) return
      recordedAt.set(key.digest, nowMs)
      const attempts = usedAt === -Infinity ? FIRST_USE_ATTEMPTS : 1
      write(key.digest, nowMs, attempts).catch((error) => {
        recordedAt.set(key.digest, nowMs - HOUR_MS + RETRY_MS)
        onFailure(key, error)
      })
    },
  }
}
