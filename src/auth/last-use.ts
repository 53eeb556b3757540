import { LRUCache } from 'lru-cache'
import { withDeadline } from '../lib/async/with-deadline.ts'
import { HOUR_MS, MINUTE_MS } from '../lib/durations.ts'
import { Unavailable } from '../lib/errors/unavailable.ts'
import type { KeyRecord, KeyStore } from './key-store.ts'

const RETRY_MS = MINUTE_MS
/** One attempt blocks the event loop of the embedded store while its file is locked. */
const FIRST_USE_PAUSE_MS = 1_000
const MAX_KEYS = 10_000

/** When keys last authenticated, from their records and from this process. */
export interface LastUse {
  /** Epoch milliseconds; `-Infinity` when the key never authenticated. */
  of(key: KeyRecord): number
  /**
   * Stores the first use of a key, at `nowMs`. A page that is read before this resolves may be
   * unknown to a load, which then writes orders behind the cursor of that page. Calls for a key
   * share one write. Once the store is unavailable, no use is written for a second, of any key: a
   * waiting request has a slot, and those of other keys need one too.
   * @throws Unavailable when the use is not stored within `withinMs`, or the write takes too long
   */
  storeFirst(key: KeyRecord, nowMs: number, withinMs: number): Promise<void>
  /** Records a later use at `nowMs`. Writes to the store at most hourly, in the background. */
  record(key: KeyRecord, nowMs: number): void
}

export interface LastUseOptions {
  keys: Pick<KeyStore, 'update'>
  /** From the start of the write of a first use until the store counts as unavailable. */
  deadlineMs: number
  /**
   * Receives a failed write in the background. The next one happens a minute later at the earliest.
   */
  onFailure(key: KeyRecord, error: unknown): void
}

/** Creates the record of a process that has authenticated no key. */
export function createLastUse({ keys, deadlineMs, onFailure }: LastUseOptions): LastUse {
  const recordedAt = new LRUCache<string, number>({ max: MAX_KEYS })
  const firstUses = new Map<string, Promise<void>>()
  const of = (key: KeyRecord) =>
    Math.max(key.lastValidAt ?? -Infinity, recordedAt.get(key.digest) ?? -Infinity)

  let outage: Unavailable | undefined

  async function writeFirst(digest: string, nowMs: number): Promise<void> {
    async function write(): Promise<void> {
      await keys.update(digest, { lastValidAt: nowMs })
      recordedAt.set(digest, nowMs) // After the deadline too.
    }
    try {
      await withDeadline(write, deadlineMs, () => notStored(deadlineMs))
    } catch (error) {
      if (error instanceof Unavailable) pauseAfter(error)
      throw error
    } finally {
      firstUses.delete(digest)
    }
  }

  function pauseAfter(error: Unavailable): void {
    outage = error
    setTimeout(() => {
      outage = undefined
    }, FIRST_USE_PAUSE_MS).unref()
  }

  return {
    of,
    async storeFirst({ digest }, nowMs, withinMs) {
      if (outage !== undefined) throw outage
      const stored = firstUses.get(digest) ?? writeFirst(digest, nowMs)
      firstUses.set(digest, stored)
      // A request that has little time left fails alone.
      await withDeadline(
        () => stored,
        withinMs,
        () => notStored(withinMs),
      )
    },
    record(key, nowMs) {
      if (nowMs - of(key) < HOUR_MS) return
      recordedAt.set(key.digest, nowMs)
      keys.update(key.digest, { lastValidAt: nowMs }).catch((error) => {
        recordedAt.set(key.digest, nowMs - HOUR_MS + RETRY_MS)
        onFailure(key, error)
      })
    },
  }
}

const notStored = (withinMs: number) =>
  new Unavailable(`the first use of the key was not stored within ${Math.round(withinMs)} ms`)
