import { Unavailable } from '../lib/errors/unavailable.ts'
import { generateApiKey, keyDigest } from './api-key.ts'
import { newKeyId } from './key-id.ts'
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
