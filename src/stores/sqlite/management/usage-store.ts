import { setImmediate } from 'node:timers/promises'
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

/** The rows of a read: a few milliseconds of the event loop. */
const BATCH = 1_000

/** The counters of keys in an embedded database. */
export function createSqliteUsageStore(db: GuardedDatabase): UsageStore {
  const replace = db.prepare(
    'INSERT OR REPLACE INTO usage_counters VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const select = db.prepare(`
    SELECT * FROM usage_counters
    WHERE account_id = ? AND (day, key_id, process_id) > (?, ?, ?) AND day <= ?
    ORDER BY day, key_id, process_id LIMIT ${BATCH}`)
  // Seeks in the index of last uses, two for each key: a grouping would read a year of counters.
  const selectLastUse = db.prepare(`
    WITH RECURSIVE used (key_id) AS (
      SELECT min(key_id) FROM usage_counters WHERE account_id = ?1
      UNION ALL
      SELECT (SELECT min(key_id) FROM usage_counters
              WHERE account_id = ?1 AND key_id > used.key_id)
      FROM used WHERE used.key_id IS NOT NULL
    )
    SELECT key_id AS keyId,
      (SELECT max(last_used_at) FROM usage_counters
       WHERE account_id = ?1 AND key_id = used.key_id) AS at
    FROM used WHERE key_id IS NOT NULL`)
  const purge = db.prepare(
    'DELETE FROM usage_counters WHERE day = (SELECT min(day) FROM usage_counters) AND day < ?',
  )

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
      const sums: UsageCounters[] = []
      let after: [day: string, keyId: string, processId: string] = [fromDay, '', '']
      for (;;) {
        const found = db.run(() => select.all(accountId, ...after, toDay))
        const rows = found as unknown as UsageRow[]
        sums.push(...sumUsage(rows.map(countersOf)))
        const last = rows.at(-1)
        if (last === undefined || rows.length < BATCH) return sumUsage(sums)
        after = [last.day, last.key_id, last.process_id]
        await setImmediate() // Other requests run between the reads.
      }
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
