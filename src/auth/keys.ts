import { newKeyId } from '../lib/ids.ts'
import { Unavailable } from '../lib/unavailable.ts'
import { generateApiKey, keyDigest } from './api-key.ts'
import type { KeyRecord, KeyStore, Scope } from './key-store.ts'

export interface KeyGrant {
  accountId: string
  scopes: readonly Scope[]
  name: string | null
  /** Epoch milliseconds; `null` for a key that does not expire. */
  expiresAt: number | null
}

/** A new key, the only time it is seen, and its record. */
export interface IssuedKey {
  key: string
  record: KeyRecord
}

/**
 * Makes a key (a random one unless `key` is given) and stores its record.
 * @throws what the store throws; where nobody knows whether it was stored, with what to do about it
 */
export async function issueKey(
  { keys, keyPepper }: { keys: KeyStore; keyPepper: Uint8Array },
  grant: KeyGrant,
  nowMs: number,
  key = generateApiKey(),
): Promise<IssuedKey> {
  const record: KeyRecord = {
    keyId: newKeyId(),
    digest: keyDigest(keyPepper, key),
    accountId: grant.accountId,
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
    const advice = `if "keys list" shows ${record.keyId}, revoke it: nobody has seen that key`
    throw new Unavailable(`${cause.message}; ${advice}`, { cause })
  })
  return { key, record }
}

/** Why a key is not accepted at `nowMs`; `undefined` when it is. */
export function inactiveReason(key: KeyRecord, nowMs: number): 'revoked' | 'expired' | undefined {
  if (key.revokedAt !== null) return 'revoked'
  return key.expiresAt !== null && nowMs >= key.expiresAt ? 'expired' : undefined
}

/**
 * Issues the successor of a key, with its grant and as long a life, and lets the old one live on for
 * `overlapMs` at most.
 * @throws Error when the key is revoked or expired: there is nothing to carry over
 */
export async function rollKey(
  services: { keys: KeyStore; keyPepper: Uint8Array },
  old: KeyRecord,
  overlapMs: number,
  nowMs: number,
): Promise<IssuedKey> {
  const reason = inactiveReason(old, nowMs)
  if (reason) throw new Error(`${old.keyId} is ${reason}: make a new key with "keys create"`)
  const expiresAt = old.ttlMs === null ? null : nowMs + old.ttlMs
  const issued = await issueKey(services, { ...old, expiresAt }, nowMs)
  const endsAt = Math.min(old.expiresAt ?? Infinity, nowMs + overlapMs)
  await services.keys.update(old.digest, { expiresAt: endsAt })
  return issued
}
