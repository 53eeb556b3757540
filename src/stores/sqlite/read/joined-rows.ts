import type { RenderedOrder } from '../../../orders/order-store.ts'
import { upgradeOrder } from '../../../orders/upgrade-order.ts'

/** The rows of a page as one row; both `null` without rows. */
export interface JoinedRows {
  /** The stored JSON of the orders, with a byte between two. */
  json: Uint8Array<ArrayBuffer> | null
  /** The `FIELDS` of each row, all separated by spaces, which none of them has. */
  fields: string | null
}

const FIELDS = ['key', 'id', 'shape', 'tag', 'length(json)']

/**
 * Returns the statement that joins the rows of another one to `JoinedRows`. A buffer for each order
 * would double the CPU time of reading a page. SQLite passes the rows of a sorted subquery to
 * `group_concat` in their order.
 */
export function joinRows(sql: string): string {
  return `SELECT CAST(group_concat(json, ',') AS BLOB) AS json, group_concat(concat_ws(' ', ${FIELDS}), ' ') AS fields FROM (${sql})`
}

/** The orders of joined rows. Those of the current schema version share the bytes of `json`. */
export function splitRows({ json, fields }: JoinedRows): RenderedOrder[] {
  if (json === null || fields === null) return []
  const rows: RenderedOrder[] = []
  const values = fields.split(' ')
  let start = 0
  for (let at = 0; at < values.length; at += FIELDS.length) {
    const [key, id = '', shape, tag = '', length] = values.slice(at, at + FIELDS.length)
    const end = start + Number(length)
    const order = upgradeOrder(json.subarray(start, end), Number(shape))
    rows.push({ key: Number(key), id, json: order, tag })
    start = end + 1
  }
  return rows
}
