import { setImmediate } from 'node:timers/promises'
import { parseJson } from '../../../lib/text/json.ts'
import type { EventRecord } from '../../../webhooks/events/event-record.ts'
import type { EventFeed } from '../../../webhooks/webhook-stores.ts'
import { isBusy } from '../database/failures.ts'
import type { GuardedDatabase } from '../database/guarded-database.ts'
import type { InsertDeliveries } from './insert-deliveries.ts'

export interface EventFeedOptions {
  /** A connection to `orders.db` of the feed's own: its waits for the write lock must be short. */
  orders: GuardedDatabase
  webhooks: GuardedDatabase
  insertDeliveries: InsertDeliveries
}

/** The last record that has its deliveries. */
interface Cursor {
  position: number
  recordedAt: number
}

interface RecordRow extends Cursor {
  record: string
}

const START: Cursor = { position: 0, recordedAt: 0 }

/** The number of rows of a transaction, which takes a few milliseconds of the event loop. */
const PURGE_BATCH = 500

/**
 * The event records of `orders.db`. Positions are in the order of the commits, so a cursor in
 * `webhooks.db` separates the records with deliveries from those without. The deliveries of a page
 * and the cursor are one transaction.
 *
 * Each `orders.db` has a cursor of its own, because positions start again after its loss. An older
 * copy that was restored has the same identity; it is recognised because it lacks the record of the
 * cursor. Both then start at the first record, and so does a new `webhooks.db`. Deliveries that
 * exist stay as they are. An endpoint receives nothing recorded before it was created.
 */
export function createSqliteEventFeed(options: EventFeedOptions): EventFeed {
  const { orders, webhooks, insertDeliveries } = options
  const selectDataVersion = orders.prepare('PRAGMA data_version')
  const selectRecords = orders.prepare(`
    SELECT position, recorded_at AS recordedAt, record FROM order_events
    WHERE position >= ? ORDER BY position LIMIT ?`)
  const selectLast = orders.prepare('SELECT max(position) AS position FROM order_events')
  const deleteOld = orders.prepare(`
    DELETE FROM order_events WHERE recorded_at < ? AND position IN (
      SELECT position FROM order_events WHERE position < ? ORDER BY position LIMIT ${PURGE_BATCH})`)
  const selectCursor = webhooks.prepare(
    'SELECT position, recorded_at AS recordedAt FROM event_cursors WHERE feed_id = ?',
  )
  const insertCursor = webhooks.prepare(
    'INSERT INTO event_cursors VALUES (?, 0, 0) ON CONFLICT DO NOTHING',
  )
  const moveCursor = webhooks.prepare(
    'UPDATE event_cursors SET position = ?, recorded_at = ? WHERE feed_id = ? AND position = ?',
  )
  const feedId = orders.run(
    () => orders.prepare('SELECT id FROM event_feed').get()?.['id'] as string,
  )
  /** The version of `orders.db` without a record after the cursor. */
  let idleVersion: unknown

  const readCursor = () =>
    webhooks.run(() => selectCursor.get(feedId) as unknown as Cursor | undefined) ?? START

  /** The records after the cursor. */
  function readAfter({ position, recordedAt }: Cursor, limit: number): RecordRow[] {
    const from = (first: number, count: number) =>
      orders.run(() => selectRecords.all(first, count)) as unknown as RecordRow[]
    if (position === 0) return from(1, limit)
    const [last, ...rows] = from(position, limit + 1)
    const isSameHistory = last?.position === position && last.recordedAt === recordedAt
    return isSameHistory ? rows : from(1, limit)
  }

  return {
    async next(limit) {
      // Read first: a commit after it changes the version, and is found by the next call.
      const version = orders.run(() => selectDataVersion.get()?.['data_version'])
      if (version === idleVersion) return null
      const cursor = readCursor()
      const rows = readAfter(cursor, limit)
      const last = rows.at(-1)
      if (last === undefined) {
        idleVersion = version
        return null
      }
      return {
        records: rows.map(({ record }) => parseJson(record) as EventRecord),
        async fanOut(deliveries) {
          return webhooks.write(() => {
            const created = insertDeliveries(deliveries)
            insertCursor.run(feedId)
            // Another process may have moved it. It never moves past a record without deliveries.
            moveCursor.run(last.position, last.recordedAt, feedId, cursor.position)
            return created
          })
        },
      }
    },
    async backlog() {
      const [first] = readAfter(readCursor(), 1)
      if (first === undefined) return { records: 0, oldestRecordedAt: null }
      // Without a scan: only the oldest records are removed, so positions have no gap after them.
      const last = Number(orders.run(() => selectLast.get()?.['position']))
      return { records: last - first.position + 1, oldestRecordedAt: first.recordedAt }
    },
    async purge(beforeMs) {
      // The record at the cursor stays, because it identifies the history of the file.
      const { position } = readCursor()
      try {
        while (orders.write(() => deleteOld.run(beforeMs, position)).changes > 0)
          await setImmediate()
      } catch (error) {
        if (!isBusy(error)) throw error
        // A load holds the write lock most of the time. A later call removes the rest.
      }
    },
  }
}
