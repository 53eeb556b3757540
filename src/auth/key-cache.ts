import { LRUCache } from 'lru-cache'
import type { Clock } from '../lib/clock.ts'
import type { KeyStore, KeyWithAccount } from './key-store.ts'

/** How long an entry answers without asking the store: a revocation or a block counts within this. */
const FRESH_MS = 5_000
/** How long an entry goes on answering while the store is down. */
const STALE_IF_ERROR_MS = 600_000
const MAX_KEYS = 10_000

interface Entry {
  keyWithAccount: KeyWithAccount
  readAt: number
  revalidateAt: number
}

export interface KeyCache {
  /**
   * The holder of the key with this digest, `null` when there is none; within `withinMs` where the store is asked.
   * @throws what the store throws, when the key was not seen lately
   */
  find(digest: string, timeoutMs?: number): Promise<KeyWithAccount | null>
}

/**
 * What an entry was: fresh; not there, or too old to go by; or old, and still good enough while the store
 * is down.
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
   * One look at the store, however many requests of the key are waiting for it. It has the time of the first of them,
   * which is due before all others, and goes on when that one's caller disconnects.
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
        // In between it answers at once: asking a store that is down may take a whole deadline.
        entry.revalidateAt = Math.min(now + FRESH_MS, staleAt)
        return entry.keyWithAccount
      }
    },
  }
}
