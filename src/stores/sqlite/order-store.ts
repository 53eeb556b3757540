import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { OrderStore, Position, RenderedOrder } from '../../orders/order-store.ts'
import { sliceStatement } from './slice-sql.ts'

/** The orders of an embedded database. Each call is one statement, so one snapshot. */
export function createSqliteOrderStore(db: DatabaseSync): OrderStore {
  const slices = new Map<string, StatementSync>()
  const latest = db.prepare(
    'SELECT written_key AS key, id FROM orders WHERE account_id = ? ORDER BY written_key DESC, id DESC LIMIT 1',
  )
  const one = db.prepare('SELECT json FROM orders WHERE account_id = ? AND id = ?')

  /** The forms of statement are few (which filters, which sort), so each is prepared once. */
  function prepared(sql: string): StatementSync {
    const known = slices.get(sql) ?? db.prepare(sql)
    slices.set(sql, known)
    return known
  }

  return {
    async slice(query) {
      const { sql, params } = sliceStatement(query)
      return prepared(sql).all(...params) as unknown as RenderedOrder[]
    },
    async latestWrite(accountId) {
      return (latest.get(accountId) as unknown as Position | undefined) ?? null
    },
    async get(accountId, id) {
      const row = one.get(accountId, id) as unknown as { json: Uint8Array } | undefined
      return row?.json ?? null
    },
  }
}
