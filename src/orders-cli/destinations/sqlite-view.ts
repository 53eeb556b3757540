import type { DatabaseSync } from 'node:sqlite'
import { type Kind, orderColumns } from '../order-columns.ts'

const NAME = 'orders_typed'

/** Money stays an integer of cents, because sums of fractions are not exact. */
const TYPES: Record<Kind, 'TEXT' | 'INTEGER' | 'REAL'> = {
  text: 'TEXT',
  cents: 'INTEGER',
  integer: 'INTEGER',
  // In the form of the API, which the date functions of SQLite read.
  instant: 'TEXT',
  rate: 'REAL',
  items: 'TEXT',
  json: 'TEXT',
}

const columns = Object.entries(orderColumns).map(([path, kind]) => {
  const value = path === 'id' ? 'id' : `json_extract(json, '$.${path}')`
  return `CAST(${value} AS ${TYPES[kind]}) AS ${path.replaceAll('.', '_')}`
})

const VIEW = `CREATE VIEW ${NAME} AS SELECT
  ${columns.join(',\n  ')}
  FROM orders`

/**
 * Creates the view with every field of an order as a typed column, or replaces that of an earlier
 * version of this command. It holds no data.
 */
export function ensureTypedView(db: DatabaseSync): void {
  const found = db.prepare('SELECT sql FROM sqlite_master WHERE name = ?').get(NAME)
  if (found?.['sql'] === VIEW) return
  db.exec(`BEGIN IMMEDIATE; DROP VIEW IF EXISTS ${NAME}; ${VIEW}; COMMIT`)
}
