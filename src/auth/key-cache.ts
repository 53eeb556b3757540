import { LRUCache } from 'lru-cache'
import type { Clock } from '../lib/clock.ts'
import { MINUTE_MS } from '../lib/durations.ts'
import type { KeyStore, KeyWithAccount } from './key-store.ts'

/** How long an entry is fresh, and so the delay until a revocation or a block takes effect. */
const FRESH_MS = 5_000
/** How long a stale entry is served while the store is unavailable (stale-if-error). */
const STALE_IF_ERROR_MS = 10 * MINUTE_MS
const MAX_KEYS = 10_000

interface Entry {
  keyWithAccount: KeyWithAccount
  readAt: number
  revalidateAt: number
}

export interface KeyCache {
  /**
   * The key with this digest and its account, `null` when there is none. `timeoutMs` bounds a query
   * of the store.
   * @throws the error of the store, unless a stale entry can be served
   */
  find(digest: string, timeoutMs?: number): Promise<KeyWithAccount | null>
}

/**
 * How a lookup was served: from a fresh entry, from the store, or from a stale entry because the
 * store failed. A lookup that failed is a `miss` too.
 */
export type KeyLookupOutcome = 'hit' | 'miss' | 'stale'

/** An LRU in front of a key store. `clock` is monotonic milliseconds. */
export function createKeyCache(
  store: Pick<KeyStore, 'find'>,
  clock: Clock,
  onLookup: (result: KeyLookupOutcome) => void = () => {},
): KeyCache {
  const entries = new LRUCache<string, Entry>({ max: MAX_KEYS })
  const inFlight = new Map<string, Promise<KeyWithAccount | null>>()

  /**
   * Concurrent requests for a key share one query of the store. It has the timeout of the first
   * request, which is due first, and continues if that client disconnects.
   */
  function read(digest: string, timeoutMs?: number): Promise<KeyWithAccount | null> {
    const pending = inFlight.get(digest)
    if (pending) return pending
    const readAt = clock()
    const loaded = store.find(digest, timeoutMs).then((keyWithAccount) => {
      if (keyWithAccount)
        entries.set(digest, { keyWithAccount, readAt, revalidateAt: readAt + FRESH_MS })
      else entries.delete(digest)
      return keyWithAccount
    })
    const found = loaded.finally(() => inFlight.delete(digest))
    inFlight.set(digest, found)
    return found
  }

  return {
    async find(digest, timeoutMs) {
      const entry = entries.get(digest)
      const requestedAt = clock()
      if (entry && requestedAt < entry.revalidateAt) {
        onLookup(requestedAt < entry.readAt + FRESH_MS ? 'hit' : 'stale')
        return entry.keyWithAccount
      }
      try {
        const keyWithAccount = await read(digest, timeoutMs)
        onLookup('miss')
        return keyWithAccount
      } catch (error) {
        const now = clock()
        const staleAt = (entry?.readAt ?? -Infinity) + STALE_IF_ERROR_MS
        const isUsable = entry !== undefined && now < staleAt
        onLookup(isUsable ? 'stale' : 'miss')
        if (!isUsable) throw error
        // Serve stale until then, because each query of a failed store may last a whole deadline.
        entry.revalidateAt = Math.min(now + FRESH_MS, staleAt)
        return entry.keyWithAccount
      }
    },
  }
}
