import type { UsageCounters } from './usage-store.ts'

/** The sums over all processes, by day, then by key. `processId` of a sum is empty. Pure. */
export function sumUsage(counters: readonly UsageCounters[]): UsageCounters[] {
  const sums = new Map<string, UsageCounters>()
  for (const counted of counters) {
    const key = `${counted.day} ${counted.keyId}`
    const sum = sums.get(key)
    sums.set(key, sum === undefined ? { ...counted, processId: '' } : add(sum, counted))
  }
  return [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum)
}

function add(sum: UsageCounters, counted: UsageCounters): UsageCounters {
  const byStatus: Record<string, number> = { ...sum.byStatus }
  for (const [status, count] of Object.entries(counted.byStatus)) {
    byStatus[status] = (byStatus[status] ?? 0) + count
  }
  return {
    ...sum,
    byStatus,
    requests: sum.requests + counted.requests,
    rateLimited: sum.rateLimited + counted.rateLimited,
    lastUsedAt: Math.max(sum.lastUsedAt, counted.lastUsedAt),
  }
}
