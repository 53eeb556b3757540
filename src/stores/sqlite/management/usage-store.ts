import { sumUsage } from '../../../management/usage/sum-usage.ts'
import type { UsageCounters, UsageStore } from '../../../management/usage/usage-store.ts'
import type { GuardedDatabase } from '../database/guarded-database.ts'

interface UsageRow {
  account_id: string
  day: string
  key_id: string
  process_id: string
  requests: number
  by_status: string
  rate_limited: number
  last_used_at: number
}

/** The counters of keys in an embedded database. */
export function createSqliteUsageStore(db: GuardedDatabase): UsageStore {
  const replace = db.prepare(
    'INSERT OR REPLACE INTO usage_counters VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const select = db.prepare(
    'SELECT * FROM usage_counters WHERE account_id = ? AND day BETWEEN ? AND ?',
  )
  const selectLastUse = db.prepare(`
    SELECT key_id AS keyId, max(last_used_at) AS at FROM usage_counters
    WHERE account_id = ? GROUP BY key_id`)
  const purge = db.prepare('DELETE FROM usage_counters WHERE day < ?')

  return {
    async save(counters) {
      if (counters.length === 0) return
      db.write(() => {
        for (const { accountId, day, keyId, processId, ...counts } of counters) {
          const { requests, byStatus, rateLimited, lastUsedAt } = counts
          const statuses = JSON.stringify(byStatus)
          const key = [accountId, day, keyId, processId] as const
          replace.run(...key, requests, statuses, rateLimited, lastUsedAt)
        }
      })
    },
    async list({ accountId, fromDay, toDay }) {
      const rows = db.run(() => select.all(accountId, fromDay, toDay))
      return sumUsage((rows as unknown as UsageRow[]).map(countersOf))
    },
    async lastUsedAt(accountId) {
      const rows = db.run(() => selectLastUse.all(accountId))
      return new Map((rows as { keyId: string; at: number }[]).map(({ keyId, at }) => [keyId, at]))
    },
    async purge(beforeDay) {
      db.write(() => purge.run(beforeDay))
    },
  }
}

function countersOf(row: UsageRow): UsageCounters {
  return {
    day: row.day,
    keyId: row.key_id,
    accountId: row.account_id,
    processId: row.process_id,
    requests: row.requests,
    byStatus: JSON.parse(row.by_status),
    rateLimited: row.rate_limited,
    lastUsedAt: row.last_used_at,
  }
}
