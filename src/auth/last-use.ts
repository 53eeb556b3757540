import { LRUCache } from 'lru-cache'
import type { KeyRecord, KeyStore } from './key-store.ts'

const HOUR_MS = 3_600_000
const RETRY_MS = 60_000
const MAX_KEYS = 10_000

/** When keys were last valid: their records, and what this process has seen since. */
export interface LastUse {
  /** Epoch milliseconds; `-Infinity` when the key was never valid. */
  of(key: KeyRecord): number
  /** Notes that the key was valid at `nowMs`, in the store at most hourly. Nobody waits for it. */
  note(key: KeyRecord, nowMs: number): void
}

/** `onFailure`: a note that the store did not take; the next one follows a minute later. */
export function createLastUse(
  store: Pick<KeyStore, 'update'>,
  onFailure: (key: KeyRecord, error: unknown) => void,
): LastUse {
  const noted = new LRUCache<string, number>({ max: MAX_KEYS })
  const of = (key: KeyRecord) =>
    Math.max(key.lastValidAt ?? -Infinity, noted.get(key.digest) ?? -Infinity)

  return {
    of,
    note(key, nowMs) {
      if (nowMs - of(key) < HOUR_MS) return
      noted.set(key.digest, nowMs)
      store.update(key.digest, { lastValidAt: nowMs }).catch((error) => {
        noted.set(key.digest, nowMs - HOUR_MS + RETRY_MS)
        onFailure(key, error)
      })
    },
  }
}
