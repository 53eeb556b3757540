import type { UsageCounters } from './usage-store.ts'

/** The usage of an account by day and key, as the API returns it and the command prints it. */
export function usageJson(counters: readonly UsageCounters[]) {
  return {
    object: 'usage',
    data: counters.map(({ day, keyId, requests, byStatus, rateLimited }) => ({
      day,
      key_id: keyId,
      requests,
      by_status: byStatus,
      rate_limited: rateLimited,
    })),
  } as const
}
