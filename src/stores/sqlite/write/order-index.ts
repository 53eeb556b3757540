import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { renderDocument } from '../../../indexing/writer/order-document.ts'
import type {
  BulkWrites,
  FindSubscribers,
  IndexReader,
  LastWrite,
  OrderIndex,
  WriteMode,
} from '../../../indexing/writer/order-index.ts'
import { createMutex } from '../../../lib/async/mutex.ts'
import type { Clock } from '../../../lib/clock.ts'
import { parseJson } from '../../../lib/text/json.ts'
import type { ViewKey } from '../../../orders/order-store.ts'
import { type EventRecord, withoutStates } from '../../../webhooks/events/event-record.ts'
import { assertNotUpgraded, rollBack } from '../database/database.ts'
import { ordersMigrations } from '../database/schema.ts'
import { storedView, versionRecordOf } from './order-rows.ts'
import { createWriteTimestamps, type MachineTime, machineTime } from './write-timestamps.ts'

interface EventRow {
  position: number
  record: string
}

/**
 * The write side of an embedded database, on a separate connection: on a shared one, readers would
 * see uncommitted rows. The write transaction is both lease and fence: only one process holds it,
 * and SQLite rolls back that of a dead process. `clock`: epoch milliseconds.
 * @throws ClockSkewError, TimestampsAheadError
 */
export function createSqliteOrderIndex(
  db: DatabaseSync,
  clock: Clock,
  subscribers: FindSubscribers,
  time: MachineTime = machineTime,
): OrderIndex {
  // Rows of lookups are inserted all over their index, so SQLite's 2 MB spill during each bulk.
  db.exec('PRAGMA cache_size = -16384')
  const timestamps = createWriteTimestamps(db, clock, time)
  timestamps.check() // Fails before a load reads its input.
  const selectRecord = db.prepare('SELECT * FROM order_heads WHERE id = ?')
  const selectView = db.prepare(
    'SELECT account_id AS accountId, id AS orderId, shape AS schemaVersion, status, payment_method AS paymentMethod, created_key AS createdKey, updated_key AS updatedKey, written_key AS writtenKey, paid_key, lookups, json FROM orders WHERE account_id = ? AND id = ?',
  )
  // A manual change may leave an integer that JavaScript cannot represent.
  selectView.setReadBigInts(true)
  // Scans the whole index by account and id, since no index leads from an order to its accounts.
  const selectViewKeys = db.prepare(
    'SELECT account_id AS accountId, id AS orderId FROM orders WHERE id IN (SELECT value FROM json_each(?))',
  )
  const selectLiveFlag = db.prepare('SELECT stamped_live FROM writer')
  const setLiveFlag = db.prepare('UPDATE writer SET stamped_live = 1 WHERE stamped_live = 0')
  const upsertView = db.prepare(`
    INSERT INTO orders (account_id, id, shape, status, payment_method, created_key, updated_key, written_key, paid_key, lookups, json, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (account_id, id) DO UPDATE SET
      shape = excluded.shape, status = excluded.status, payment_method = excluded.payment_method,
      created_key = excluded.created_key, updated_key = excluded.updated_key,
      written_key = excluded.written_key, paid_key = excluded.paid_key,
      lookups = excluded.lookups, json = excluded.json, checksum = excluded.checksum`)
  const deleteView = db.prepare('DELETE FROM orders WHERE account_id = ? AND id = ?')
  const upsertRecord = db.prepare(`
    INSERT OR REPLACE INTO order_heads (id, version, owner_account_id, account_ids, created_key, filled, deleted, announced)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
  const insertEvent = db.prepare('INSERT INTO order_events (recorded_at, record) VALUES (?, ?)')
  const selectEvents = db.prepare(`
    SELECT position, record FROM order_events INDEXED BY order_events_by_order
    WHERE json_extract(record, '$.orderId') = ?`)
  const updateEvent = db.prepare('UPDATE order_events SET record = ? WHERE position = ?')

  let lastWrite: LastWrite | null = null

  function write(
    { views, removals, eventRecords, versionRecords }: BulkWrites,
    mode: WriteMode,
  ): void {
    if (mode === 'live' && views.length + removals.length > 0) setLiveFlag.run()
    const writeTimestamp = timestamps.next()
    for (const view of views) {
      const document = renderDocument(view, writeTimestamp)
      const { paid_key: paidKey, ...lookups } = document.filterKeys
      const json = Buffer.from(document.json)
      upsertView.run(
        document.accountId,
        document.id,
        document.schemaVersion,
        document.status,
        document.paymentMethod,
        document.createdKey,
        document.updatedKey,
        document.writtenKey,
        paidKey,
        JSON.stringify(lookups),
        json,
        crc32(json),
      )
      lastWrite = { accountId: document.accountId, writeTimestamp }
    }
    for (const { accountId, orderId } of removals) deleteView.run(accountId, orderId)
    for (const record of eventRecords) insertEvent.run(record.recordedAt, JSON.stringify(record))
    for (const record of versionRecords) {
      upsertRecord.run(
        record.orderId,
        record.version,
        record.ownerAccountId,
        record.accountIds.join(' '),
        record.createdKey,
        Number(record.hasUpdatedAt),
        Number(record.deleted),
        record.announced === undefined ? null : JSON.stringify(record.announced),
      )
      if (record.accountIds.length === 0) forgetStates(record.orderId)
    }
  }

  /** Event records outlive their fan-out, and must not outlive the order. */
  function forgetStates(orderId: string): void {
    for (const { position, record } of selectEvents.all(orderId) as unknown as EventRow[]) {
      const kept = withoutStates(parseJson(record) as EventRecord)
      updateEvent.run(JSON.stringify(kept), position)
    }
  }

  const reader: IndexReader = {
    async versionRecords(orderIds) {
      const rows = orderIds.map((id) => selectRecord.get(id)).filter((row) => row !== undefined)
      return new Map(rows.map(versionRecordOf).map((record) => [record.orderId, record]))
    },
    async orphans() {
      return []
    },
    async scan(orderIds) {
      return selectViewKeys.all(JSON.stringify(orderIds)) as unknown as ViewKey[]
    },
    async views(keys) {
      const rows = keys.map(({ accountId, orderId }) => selectView.get(accountId, orderId))
      return rows.filter((row) => row !== undefined).map(storedView)
    },
    async eventRecords() {
      return []
    },
    subscribers,
  }
  const runExclusive = createMutex()

  return {
    async lock() {
      const locked = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      void runExclusive(() => {
        locked.resolve()
        return released.promise
      })
      await locked.promise
      return {
        async begin() {
          rollBack(db)
          db.exec('BEGIN IMMEDIATE')
          assertNotUpgraded(db, ordersMigrations)
          return {
            ...reader,
            async commit(writes, mode) {
              write(writes, mode)
              db.exec('COMMIT')
              return true
            },
          }
        },
        release() {
          try {
            rollBack(db)
          } finally {
            released.resolve()
          }
        },
      }
    },
    hasLiveWrites: () => selectLiveFlag.get()?.['stamped_live'] === 1,
    lastWrite: () => lastWrite,
    async refresh() {},
    now: timestamps.now,
    async close() {
      db.close()
    },
  }
}
