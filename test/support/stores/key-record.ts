import type { KeyRecord } from '../../../src/auth/key-store.ts'

/** The record of an unused key of `acc_1` with the scope `orders:read` and no expiry. */
export function keyRecord(changes: Partial<KeyRecord> = {}): KeyRecord {
  return {
    keyId: 'key_1',
    digest: 'd1',
    accountId: 'acc_1',
    isTest: false,
    scopes: ['orders:read'],
    name: null,
    lastFour: 'wxyz',
    createdAt: 0,
    ttlMs: null,
    expiresAt: null,
    revokedAt: null,
    lastValidAt: null,
    ...changes,
  }
}
