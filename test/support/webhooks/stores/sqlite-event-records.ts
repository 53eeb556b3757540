import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { EventRecord } from '../../../../src/webhooks/events/event-record.ts'

const BUSY_MS = 30_000

/** Appends event records to `orders.db`, as the writer does; one commit for each. */
export function appendEventRecords(dataDir: string, records: readonly EventRecord[]): void {
  using db = new DatabaseSync(join(dataDir, 'orders.db'), { timeout: BUSY_MS })
  const insert = db.prepare('INSERT INTO order_events (recorded_at, record) VALUES (?, ?)')
  for (const record of records) insert.run(record.recordedAt, JSON.stringify(record))
}

/** The stored event records, oldest first. */
export function readEventRecords(dataDir: string): EventRecord[] {
  using db = new DatabaseSync(join(dataDir, 'orders.db'), { timeout: BUSY_MS })
  const rows = db.prepare('SELECT record FROM order_events ORDER BY position').all()
  return rows.map(({ record }) => JSON.parse(`${record}`))
}
