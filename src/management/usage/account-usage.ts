import { sandboxOf } from '../../auth/account-ids.ts'
import { sumUsage } from './sum-usage.ts'
import type { UsageCounters, UsageQuery, UsageStore } from './usage-store.ts'

/** The usage of an account's keys, those of its sandbox included, by day, then by key. */
export async function accountUsage(
  usage: Pick<UsageStore, 'list'>,
  { accountId, ...days }: UsageQuery,
): Promise<UsageCounters[]> {
  const accounts = [accountId, sandboxOf(accountId)]
  const counted = await Promise.all(accounts.map((id) => usage.list({ accountId: id, ...days })))
  return sumUsage(counted.flat())
}
