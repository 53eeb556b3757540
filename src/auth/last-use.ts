import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { KeyRecord, KeyStore } from './key-store.ts'

const HOUR_MS = 3_600_000
const RETRY_MS = 60_000
/** The first use is stored within a second: from then on a load needs to name its mode. */
const FIRST_USE_RETRY_MS = 200
const FIRST_USE_ATTEMPTS = 5
const MAX_KEYS = 10_000

/** When keys were last valid: their records, and what this process has seen since. */
export interface LastUse {
  /** Epoch milliseconds; `-Infinity` when the key was never valid. */
  of(key: KeyRecord): number
  /** Notes that the key was valid at `nowMs`, in the store at most hourly. Nobody waits for it. */
  record(key: KeyRecord, nowMs: number): void
}

/**
 * `onFailure`: a note that the store did not take, the first one of a key not even when it was tried again; the
 * next one follows a minute later.
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
