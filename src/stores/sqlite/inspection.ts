import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type {
  FoundDocument,
  IndexInspection,
  StampState,
} from '../../indexing/inspection/index-inspection.ts'
import { wallClock } from '../../lib/clock.ts'
import { parseJson } from '../../lib/json.ts'
import { headOf } from './order-index.ts'

type Row = Record<string, SQLOutputValue>

const PAGE_SIZE = 1_000
const DOCUMENT =
  'SELECT account_id, id, shape, status, payment_method, created_key, updated_key, written_key, json FROM orders'

/** Looks into an embedded database, on a connection that writes nothing. */
export function createSqliteInspection(db: DatabaseSync, pageSize = PAGE_SIZE): IndexInspection {
  const readHead = db.prepare('SELECT * FROM order_heads WHERE id = ?')
  const readDocument = db.prepare(`${DOCUMENT} WHERE account_id = ? AND id = ?`)
  const readPage = db.prepare(
    `${DOCUMENT} WHERE (account_id, id) > (?, ?) ORDER BY account_id, id LIMIT ?`,
  )
  const readExistence = db.prepare('SELECT 1 FROM orders WHERE account_id = ? AND id = ?')
  const readHeads = db.prepare('SELECT * FROM order_heads WHERE id > ? ORDER BY id LIMIT ?')
  // A number that was put in by hand may be none of JavaScript's.
  for (const statement of [readDocument, readPage]) statement.setReadBigInts(true)
  const counted = db.prepare(
    'SELECT count(*) AS documents, max(written_key) AS newestWrittenKey FROM orders',
  )
  const countHeads = db.prepare('SELECT count(*) AS orders FROM order_heads')
  const readLastStamp = db.prepare('SELECT last_stamp FROM writer')
  const size = db.prepare(
    'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
  )

  /** Beside the clock of this machine, which clients' filters are compared with as well. */
  async function stamps(): Promise<StampState> {
    const lastStamp = readLastStamp.get()?.['last_stamp'] as number
    return { lastStamp: lastStamp === 0 ? null : lastStamp, clockMs: wallClock() }
  }

  return {
    async heads(orderIds) {
      const rows = orderIds.map((id) => readHead.get(id)).filter((row) => row !== undefined)
      return new Map(rows.map(headOf).map((head) => [head.orderId, head]))
    },

    async documents(keys) {
      const rows = keys.map(({ accountId, orderId }) => readDocument.get(accountId, orderId))
      return rows.filter((row) => row !== undefined).map(foundDocument)
    },

    async existing(keys) {
      return keys.filter(({ accountId, orderId }) => readExistence.get(accountId, orderId))
    },

    async *walk() {
      let after = { accountId: '', orderId: '' }
      for (;;) {
        const page = readPage.all(after.accountId, after.orderId, pageSize).map(foundDocument)
        const last = page.at(-1)
        if (last === undefined) return
        yield page
        after = last.address
      }
    },

    async *walkHeads() {
      let after = ''
      for (;;) {
        const page = readHeads.all(after, pageSize).map(headOf)
        const last = page.at(-1)
        if (last === undefined) return
        yield page
        after = last.orderId
      }
    },

    async overview() {
      const { documents, newestWrittenKey } = counted.get() as Row
      const bytes = size.get()?.['bytes'] as number
      const name = db.location() ?? 'in memory'
      return {
        documents: documents as number,
        orders: countHeads.get()?.['orders'] as number,
        newestWrittenKey: newestWrittenKey as number | null,
        indices: [{ name, read: true, fed: true, documents: documents as number, bytes }],
        writer: null, // Its transaction is all the lease it has.
        stamps: await stamps(),
      }
    },

    stamps,
  }
}

function foundDocument({ json, ...row }: Row): FoundDocument {
  const keys = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, exact(value)]))
  const address = { accountId: row['account_id'] as string, orderId: row['id'] as string }
  return { address, keys, order: parsed(json as Uint8Array) }
}

function exact(value: SQLOutputValue): unknown {
  const number = Number(value)
  return typeof value === 'bigint' && Number.isSafeInteger(number) ? number : value
}

/** Nothing where it is no JSON: that is for whoever inspects it to tell. */
function parsed(json: Uint8Array): unknown {
  try {
    return parseJson(Buffer.from(json).toString())
  } catch {
    return undefined
  }
}
