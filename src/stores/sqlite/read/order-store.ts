import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { freeOwned } from '../../../lib/owned-bytes.ts'
import { callTimeoutMs, unbounded } from '../../../lib/request-scope.ts'
import type { OrderStore, Position, ViewKey } from '../../../orders/order-store.ts'
import { upgradeOrder } from '../../../orders/upgrade-order.ts'
import type { Statement } from './condition-sql.ts'
import { type JoinedRows, joinRows, splitRows } from './joined-rows.ts'
import { planPage } from './plan-page.ts'

/** An order as it was written, in the schema version of that time. */
interface StoredOrder {
  shape: number
  json: Uint8Array
}

/** Far above the forms in use: a list of values has a form for each of its lengths. */
const MAX_PREPARED = 500
/**
 * Characters. A longer form takes up to 300 KB of memory, and less than a millisecond to prepare. A
 * key that sends millions of them would fill the memory until a full collection. V8 frees one that
 * is not kept with the young objects.
 */
const MAX_KEPT_LENGTH = 2_000

/**
 * How much of the file SQLite reads from the page cache of the system without a copy, in bytes: its
 * maximum. The resident memory of the process then includes these pages, which the system reclaims.
 */
const MAPPED_BYTES = 2_147_418_112

/**
 * The orders of an embedded database. Each call reads rows with one statement, so in one snapshot.
 */
export function createSqliteOrderStore(db: DatabaseSync): OrderStore {
  db.exec(`PRAGMA mmap_size = ${MAPPED_BYTES}`)
  const pageStatements = new Map<string, StatementSync>()
  const selectLatestWrite = db.prepare(
    'SELECT written_key AS key, id FROM orders WHERE account_id = ? ORDER BY written_key DESC, id DESC LIMIT 1',
  )
  const selectOrder = db.prepare('SELECT shape, json FROM orders WHERE account_id = ? AND id = ?')

  /** A form of statement (which filters, which sort) is prepared once. */
  function prepareOnce(sql: string): StatementSync {
    const known = pageStatements.get(sql)
    if (known !== undefined) return known
    if (sql.length > MAX_KEPT_LENGTH) return db.prepare(sql)
    if (pageStatements.size >= MAX_PREPARED) pageStatements.clear()
    const statement = db.prepare(sql)
    pageStatements.set(sql, statement)
    return statement
  }

  const readRow = ({ sql, params }: Statement) => prepareOnce(sql).get(...params) ?? {}

  function findOrder({ accountId, orderId }: ViewKey): Uint8Array | null {
    const row = selectOrder.get(accountId, orderId) as unknown as StoredOrder | undefined
    return row ? upgradeOrder(row.json, row.shape) : null
  }

  return {
    async findPage(query, scope = unbounded) {
      callTimeoutMs(scope)
      const { sql, params } = planPage(query, readRow)
      const page = prepareOnce(joinRows(sql)).get(...params) as unknown as JoinedRows
      scope.onRelease(() => page.json && freeOwned(page.json))
      return splitRows(page)
    },
    async latestWrite(accountId, scope = unbounded) {
      callTimeoutMs(scope)
      return (selectLatestWrite.get(accountId) as unknown as Position | undefined) ?? null
    },
    async get(accountId, orderId, scope = unbounded) {
      callTimeoutMs(scope)
      return findOrder({ accountId, orderId })
    },
    async getMany(keys) {
      return keys.map(findOrder)
    },
  }
}
