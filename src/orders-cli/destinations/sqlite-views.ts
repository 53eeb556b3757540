import type { DatabaseSync } from 'node:sqlite'
import { itemColumns, type Kind, orderColumns } from '../order-columns.ts'

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

/** The name of a column: that of its field, below the objects that contain it. */
const columnOf = (path: string) => path.replaceAll('.', '_')

const typed = Object.entries(orderColumns).map(([path, kind]) => {
  const value = path === 'id' ? 'id' : `json_extract(json, '$.${path}')`
  return `CAST(${value} AS ${TYPES[kind]}) AS ${columnOf(path)}`
})

const ofItem = Object.keys(itemColumns).map(
  (path) => `json_extract(item.value, '$.${path}') AS ${columnOf(path)}`,
)

/** The views by name, as SQLite stores their texts. */
const views = {
  orders_typed: `CREATE VIEW orders_typed AS SELECT
  ${typed.join(',\n  ')}
  FROM orders`,
  items: `CREATE VIEW items AS
  SELECT orders.id AS order_id, item.key + 1 AS number, ${ofItem.join(', ')}
  FROM orders, json_each(orders.json, '$.items') AS item`,
}

/**
 * Creates the views with every field of an order and of a product as columns, or replaces those of
 * an earlier version of this command. They hold no data.
 */
export function ensureViews(db: DatabaseSync): void {
  const find = db.prepare('SELECT sql FROM sqlite_master WHERE name = ?')
  for (const [name, sql] of Object.entries(views)) {
    if (find.get(name)?.['sql'] === sql) continue
    db.exec(`BEGIN IMMEDIATE; DROP VIEW IF EXISTS ${name}; ${sql}; COMMIT`)
  }
}
