import type { KeyRecord, KeyTimestamps, Scope } from '../../auth/key-store.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'

/** The source of the document of a key, whose id is the digest. */
export function keySource(key: Omit<KeyRecord, 'digest'>): object {
  return {
    key_id: key.keyId,
    account_id: key.accountId,
    ...(key.isTest && { is_test: true }),
    scopes: key.scopes,
    name: key.name,
    last_four: key.lastFour,
    created_at: key.createdAt,
    life_ms: key.ttlMs,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    last_valid_at: key.lastValidAt,
  }
}

/** The source of an update. Undefined fields are omitted from the JSON, so they stay unchanged. */
export function timestampsSource({ revokedAt, lastValidAt }: KeyTimestamps): object {
  return { revoked_at: revokedAt, last_valid_at: lastValidAt }
}

/** The key of a document. @throws Unavailable when it is the document of no key */
export function keyRecord(digest: string, source: unknown): KeyRecord {
  const stored: Record<string, unknown> = Object(source)
  if (typeof stored['account_id'] !== 'string' || !Array.isArray(stored['scopes'])) {
    throw new Unavailable('OpenSearch returned a document that is no key')
  }
  return {
    keyId: stored['key_id'] as string,
    digest,
    accountId: stored['account_id'],
    isTest: stored['is_test'] === true,
    scopes: stored['scopes'] as Scope[],
    name: stored['name'] as string | null,
    lastFour: stored['last_four'] as string,
    createdAt: stored['created_at'] as number,
    ttlMs: stored['life_ms'] as number | null,
    expiresAt: stored['expires_at'] as number | null,
    revokedAt: stored['revoked_at'] as number | null,
    lastValidAt: stored['last_valid_at'] as number | null,
  }
}
