import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { newKeyId } from '../lib/ids.ts'
import { Unavailable } from '../lib/unavailable.ts'
import { generateApiKey, keyDigest } from './api-key.ts'
import type { KeyRecord, KeyStore, Scope } from './key-store.ts'

export interface KeyGrant {
  accountId: string
  /** A key of the account's sandbox; a live key when absent. */
  isTest?: boolean
  scopes: readonly Scope[]
  name: string | null
  /** Epoch milliseconds; `null` for a key that does not expire. */
  expiresAt: number | null
}

/** A new key, which is shown only once, and its record. */
export interface IssuedKey {
  key: string
  record: KeyRecord
}

/** Given by the caller instead of made here. */
export interface GivenKey {
  key?: string
  keyId?: string
}

/**
 * Creates a key and stores its record.
 * @throws the error of the store; when the outcome is unknown, with advice in the message
 */
export async function issueKey(
  { keys, keyPepper }: { keys: KeyStore; keyPepper: Uint8Array },
  grant: KeyGrant,
  nowMs: number,
  { key = generateApiKey(grant.isTest ? 'test' : 'live'), keyId = newKeyId() }: GivenKey = {},
): Promise<IssuedKey> {
  const record: KeyRecord = {
    keyId,
    digest: keyDigest(keyPepper, key),
    accountId: grant.accountId,
    isTest: grant.isTest ?? false,
    scopes: grant.scopes,
    name: grant.name,
    lastFour: key.slice(-4),
    createdAt: nowMs,
    ttlMs: grant.expiresAt === null ? null : grant.expiresAt - nowMs,
    expiresAt: grant.expiresAt,
    revokedAt: null,
    lastValidAt: null,
  }
  await keys.insert(record).catch((cause: unknown) => {
    if (!(cause instanceof Unavailable)) throw cause
    const advice = `the key may be stored; if "keys list" shows ${record.keyId}, revoke it and create another`
    throw new Unavailable(`${cause.message}; ${advice}`, { cause })
  })
  return { key, record }
}

/** Why a key is not valid at `nowMs`; `undefined` when it is valid. */
export function inactiveReason(key: KeyRecord, nowMs: number): 'revoked' | 'expired' | undefined {
  if (key.revokedAt !== null) return 'revoked'
  return key.expiresAt !== null && nowMs >= key.expiresAt ? 'expired' : undefined
}

const HOUR_MS = 3_600_000
const RETRY_MS = 60_000
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
