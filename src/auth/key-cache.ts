import { LRUCache } from 'lru-cache'
import type { Clock } from '../lib/clock.ts'
import type { KeyHolder, KeyStore } from './key-store.ts'

/** How long an entry answers without asking the store: a revocation or a block counts within this. */
const FRESH_MS = 5_000
/** How long an entry goes on answering while the store is down. */
const STALE_MS = 600_000
const MAX_KEYS = 10_000

interface Entry {
  holder: KeyHolder
  readAt: number
  askAgainAt: number
}

export interface KeyCache {
  /**
   * The holder of the key with this digest, `null` when there is none; within `withinMs` where the store is asked.
   * @throws what the store throws, when the key was not seen lately
   */
  find(digest: string, withinMs?: number): Promise<KeyHolder | null>
}

/**
 * What an entry was: fresh; not there, or too old to go by; or old, and still good enough while the store
 * is down.
 */
export type KeyLookUp = 'hit' | 'miss' | 'stale'

/** An LRU in front of a key store. `clock` is monotonic milliseconds. */
export function createKeyCache(
  store: Pick<KeyStore, 'find'>,
  clock: Clock,
  onLookUp: (result: KeyLookUp) => void = () => {},
): KeyCache {
  const entries = new LRUCache<string, Entry>({ max: MAX_KEYS })
  const reading = new Map<string, Promise<KeyHolder | null>>()

  /**
   * One look at the store, however many requests of the key are waiting for it. It has the time of the first of them,
   * which is due before all others, and goes on when that one's caller disconnects.
   */
  function read(digest: string, withinMs?: number): Promise<KeyHolder | null> {
    const underWay = reading.get(digest)
    if (underWay) return underWay
    const readAt = clock()
    const looked = store.find(digest, withinMs).then((holder) => {
      if (holder) entries.set(digest, { holder, readAt, askAgainAt: readAt + FRESH_MS })
      else entries.delete(digest)
      return holder
    })
    const found = looked.finally(() => reading.delete(digest))
    reading.set(digest, found)
    return found
  }

  return {
    async find(digest, withinMs) {
      const entry = entries.get(digest)
      const askedAt = clock()
      if (entry && askedAt < entry.askAgainAt) {
        onLookUp(askedAt < entry.readAt + FRESH_MS ? 'hit' : 'stale')
        return entry.holder
      }
      try {
        const holder = await read(digest, withinMs)
        onLookUp('miss')
        return holder
      } catch (error) {
        const now = clock()
        const staleAt = (entry?.readAt ?? -Infinity) + STALE_MS
        const isUsable = entry !== undefined && now < staleAt
        onLookUp(isUsable ? 'stale' : 'miss')
        if (!isUsable) throw error
        // In between it answers at once: asking a store that is down may take a whole deadline.
        entry.askAgainAt = Math.min(now + FRESH_MS, staleAt)
        return entry.holder
      }
    },
  }
}
