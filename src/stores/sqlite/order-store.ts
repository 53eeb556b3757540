import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { timeFor, unbounded } from '../../lib/request-scope.ts'
import { completeOrder } from '../../orders/complete.ts'
import type { OrderStore, Position, RenderedOrder } from '../../orders/order-store.ts'
import { sliceStatement } from './slice-sql.ts'

/** An order as it was written, in the shape of then. */
interface Stored {
  shape: number
  json: Uint8Array
}

/** The orders of an embedded database. Each call is one statement, so one snapshot. */
export function createSqliteOrderStore(db: DatabaseSync): OrderStore {
  const slices = new Map<string, StatementSync>()
  const latest = db.prepare(
    'SELECT written_key AS key, id FROM orders WHERE account_id = ? ORDER BY written_key DESC, id DESC LIMIT 1',
  )
  const one = db.prepare('SELECT shape, json FROM orders WHERE account_id = ? AND id = ?')

  /** The forms of statement are few (which filters, which sort), so each is prepared once. */
  function prepared(sql: string): StatementSync {
    const known = slices.get(sql) ?? db.prepare(sql)
    slices.set(sql, known)
    return known
  }

  return {
    async slice(query, scope = unbounded) {
      timeFor(scope)
      const { sql, params } = sliceStatement(query)
      const rows = prepared(sql).all(...params) as unknown as (RenderedOrder & Stored)[]
      return rows.map(({ key, id, shape, json }) => ({ key, id, json: completeOrder(json, shape) }))
    },
    async latestWrite(accountId, scope = unbounded) {
      timeFor(scope)
      return (latest.get(accountId) as unknown as Position | undefined) ?? null
    },
    async get(accountId, id, scope = unbounded) {
      timeFor(scope)
      const row = one.get(accountId, id) as unknown as Stored | undefined
      return row ? completeOrder(row.json, row.shape) : null
    },
  }
}
