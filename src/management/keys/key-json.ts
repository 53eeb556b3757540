import { sandboxOf } from '../../auth/account-ids.ts'
import type { KeyRecord } from '../../auth/key-store.ts'
import { formatInstant, formatInstantOrNull } from '../../lib/instant.ts'
import type { UsageStore } from '../usage/usage-store.ts'
import type { MadeKey } from './key-maker.ts'

/**
 * When a key was last used, epoch milliseconds; `null` for never. `countedAt`: from its usage,
 * which is later than its record by up to an hour.
 */
export function latestUse({ lastValidAt }: KeyRecord, countedAt: number | null): number | null {
  if (lastValidAt === null || countedAt === null) return lastValidAt ?? countedAt
  return Math.max(lastValidAt, countedAt)
}

/**
 * Key id → last use of each key of an account, those of its sandbox included, which count apart.
 */
export async function lastUseOfKeys(
  usage: Pick<UsageStore, 'lastUsedAt'>,
  accountId: string,
): Promise<ReadonlyMap<string, number>> {
  const accounts = [accountId, sandboxOf(accountId)]
  const counted = await Promise.all(accounts.map((id) => usage.lastUsedAt(id)))
  return new Map(counted.flatMap((usedAt) => [...usedAt]))
}

/** A key without its secret. `countedAt`: its last use, from its usage. */
export function keyJson(record: KeyRecord, countedAt: number | null = null) {
  return {
    object: 'api_key',
    id: record.keyId,
    account_id: record.accountId,
    test: record.isTest,
    name: record.name,
    scopes: record.scopes,
    last_four: record.lastFour,
    created_at: formatInstant(record.createdAt),
    expires_at: formatInstantOrNull(record.expiresAt),
    revoked_at: formatInstantOrNull(record.revokedAt),
    last_used_at: formatInstantOrNull(latestUse(record, countedAt)),
  } as const
}

/** A new key and its secret, which appears only here; without it in a repetition. */
export function createdKeyJson({ record, key }: MadeKey) {
  return { ...keyJson(record), ...(key !== null && { key }) } as const
}
