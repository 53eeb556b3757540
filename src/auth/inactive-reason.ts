import type { KeyRecord } from './key-store.ts'

/** Why a key is not valid at `nowMs`; `undefined` when it is valid. */
export function inactiveReason(key: KeyRecord, nowMs: number): 'revoked' | 'expired' | undefined {
  if (key.revokedAt !== null) return 'revoked'
  return key.expiresAt !== null && nowMs >= key.expiresAt ? 'expired' : undefined
}
