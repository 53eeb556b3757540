import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type {
  IndexInspection,
  InspectedDocument,
  WriteTimestampState,
} from '../../indexing/consistency-check/index-inspection.ts'
import { wallClock } from '../../lib/clock.ts'
import { toNamedError } from './database/failures.ts'
import { parseOrUndefined, type Row, versionRecordOf } from './write/order-rows.ts'

const PAGE_SIZE = 1_000
const DOCUMENT =
  'SELECT account_id, id, shape, status, payment_method, created_key, updated_key, written_key, paid_key, lookups, json FROM orders'

/** Inspects an embedded database through a connection that writes nothing. */
export function createSqliteInspection(db: DatabaseSync, pageSize = PAGE_SIZE): IndexInspection {
  const file = db.location() ?? 'in memory'
  const read = <T>(query: () => T): T => {
    try {
      return query()
    } catch (error) {
      throw toNamedError(file, error)
    }
  }
  const selectRecord = db.prepare('SELECT * FROM order_heads WHERE id = ?')
  const selectDocument = db.prepare(`${DOCUMENT} WHERE account_id = ? AND id = ?`)
  const selectPage = db.prepare(
    `${DOCUMENT} WHERE (account_id, id) > (?, ?) ORDER BY account_id, id LIMIT ?`,
  )
  const selectExistence = db.prepare('SELECT 1 FROM orders WHERE account_id = ? AND id = ?')
  const selectRecords = db.prepare('SELECT * FROM order_heads WHERE id > ? ORDER BY id LIMIT ?')
  // A manual change may leave an integer that JavaScript cannot represent.
  for (const statement of [selectDocument, selectPage]) statement.setReadBigInts(true)
  const countDocuments = db.prepare(
    'SELECT count(*) AS documents, max(written_key) AS newestWrittenKey FROM orders',
  )
  const countRecords = db.prepare('SELECT count(*) AS orders FROM order_heads')
  const selectLastTimestamp = db.prepare('SELECT last_stamp FROM writer')
  const selectSize = db.prepare(
    'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
  )

  /** The clock is this machine's, which client filters are compared with too. */
  async function writeTimestamps(): Promise<WriteTimestampState> {
    const lastWriteTimestamp = read(() => selectLastTimestamp.get())?.['last_stamp'] as number
    return {
      lastWriteTimestamp: lastWriteTimestamp === 0 ? null : lastWriteTimestamp,
      clockMs: wallClock(),
    }
  }

  return {
    async versionRecords(orderIds) {
      const records = read(() => orderIds.map((id) => selectRecord.get(id)))
      const rows = records.filter((row) => row !== undefined)
      return new Map(rows.map(versionRecordOf).map((record) => [record.orderId, record]))
    },

    async documents(keys) {
      const rows = read(() =>
        keys.map(({ accountId, orderId }) => selectDocument.get(accountId, orderId)),
      )
      return rows.filter((row) => row !== undefined).map(inspectedDocument)
    },

    async existingKeys(keys) {
      return read(() =>
        keys.filter(({ accountId, orderId }) => selectExistence.get(accountId, orderId)),
      )
    },

    async *scanDocuments() {
      let after = { accountId: '', orderId: '' }
      for (;;) {
        const rows = read(() => selectPage.all(after.accountId, after.orderId, pageSize))
        const page = rows.map(inspectedDocument)
        const last = page.at(-1)
        if (last === undefined) return
        yield page
        after = last.address
      }
    },

    async *scanVersionRecords() {
      let after = ''
      for (;;) {
        const page = read(() => selectRecords.all(after, pageSize)).map(versionRecordOf)
        const last = page.at(-1)
        if (last === undefined) return
        yield page
        after = last.orderId
      }
    },

    async overview() {
      const { documents, newestWrittenKey } = read(() => countDocuments.get()) as Row
      const bytes = read(() => selectSize.get())?.['bytes'] as number
      return {
        documents: documents as number,
        orders: read(() => countRecords.get())?.['orders'] as number,
        newestWrittenKey: newestWrittenKey as number | null,
        indices: [
          { name: file, read: true, fed: true, documents: documents as number, bytes, shards: [] },
        ],
        missingFilters: [],
        missingTargets: [],
        pendingTargets: [],
        writer: null, // The transaction is the lease.
        writeTimestamps: await writeTimestamps(),
      }
    },

    writeTimestamps,
    readAliasFault: async () => null,
  }
}

function inspectedDocument({ json, lookups, ...row }: Row): InspectedDocument {
  const keys = {
    ...Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toSafeNumber(value)])),
    ...Object(parseOrUndefined(lookups as string)),
  }
  const address = { accountId: row['account_id'] as string, orderId: row['id'] as string }
  return { address, keys, order: parseOrUndefined(json as Uint8Array) }
}

function toSafeNumber(value: SQLOutputValue): unknown {
  const number = Number(value)
  return typeof value === 'bigint' && Number.isSafeInteger(number) ? number : value
}
