import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { callTimeoutMs, unbounded } from '../../lib/request-scope.ts'
import type { OrderStore, Position, RenderedOrder } from '../../orders/order-store.ts'
import { upgradeOrder } from '../../orders/upgrade-order.ts'
import { pageStatement } from './page-sql.ts'

/** An order as it was written, in the shape of then. */
interface StoredOrder {
  shape: number
  json: Uint8Array
}

/** The orders of an embedded database. Each call is one statement, so one snapshot. */
export function createSqliteOrderStore(db: DatabaseSync): OrderStore {
  const pageStatements = new Map<string, StatementSync>()
  const selectLatestWrite = db.prepare(
    'SELECT written_key AS key, id FROM orders WHERE account_id = ? ORDER BY written_key DESC, id DESC LIMIT 1',
  )
  const selectOrder = db.prepare('SELECT shape, json FROM orders WHERE account_id = ? AND id = ?')

  /** The forms of statement are few (which filters, which sort), so each is prepared once. */
  function prepareOnce(sql: string): StatementSync {
    const statement = pageStatements.get(sql) ?? db.prepare(sql)
    pageStatements.set(sql, statement)
    return statement
  }

  return {
    async findPage(query, scope = unbounded) {
      callTimeoutMs(scope)
      const { sql, params } = pageStatement(query)
      const rows = prepareOnce(sql).all(...params) as unknown as (RenderedOrder & StoredOrder)[]
      return rows.map(({ key, id, shape, json }) => ({ key, id, json: upgradeOrder(json, shape) }))
    },
    async latestWrite(accountId, scope = unbounded) {
      callTimeoutMs(scope)
      return (selectLatestWrite.get(accountId) as unknown as Position | undefined) ?? null
    },
    async get(accountId, id, scope = unbounded) {
      callTimeoutMs(scope)
      const row = selectOrder.get(accountId, id) as unknown as StoredOrder | undefined
      return row ? upgradeOrder(row.json, row.shape) : null
    },
  }
}
