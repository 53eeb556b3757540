import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { ORDER_SCHEMA_VERSION } from '../../../../../src/orders/order.ts'
import {
  type JoinedRows,
  joinRows,
  splitRows,
} from '../../../../../src/stores/sqlite/read/joined-rows.ts'

interface Row {
  key: number
  id: string
  json: string
  shape?: number
  tag?: string
}

/** The orders of these rows, by descending key. */
function readJoined(rows: readonly Row[]) {
  using db = new DatabaseSync(':memory:')
  db.exec('CREATE TABLE rows (key INTEGER, id TEXT, json BLOB, shape INTEGER, tag TEXT) STRICT')
  const insert = db.prepare('INSERT INTO rows VALUES (?, ?, ?, ?, ?)')
  for (const { key, id, json, shape = ORDER_SCHEMA_VERSION, tag = '1-2' } of rows) {
    insert.run(key, id, Buffer.from(json), shape, tag)
  }
  const sql = joinRows('SELECT * FROM rows ORDER BY key DESC')
  const orders = splitRows(db.prepare(sql).get() as unknown as JoinedRows)
  return orders.map(({ json, ...row }) => ({ ...row, json: Buffer.from(json).toString() }))
}

describe('the joined rows of a page', () => {
  it('the joined rows are the same rows in their order', () => {
    const rows = [
      { key: 8_640_000_000_000_000, id: 'ord_c', json: '{"name":"José, \\"Zé\\""}', tag: '9-0' },
      { key: 7, id: 'ord_b', json: '{}', tag: '8-4294967295' },
      { key: -1, id: 'ord_a', json: '{"name":"🙂 a, b"}', tag: '7-1' },
    ]
    expect(readJoined(rows.toReversed())).toEqual(rows)
  })

  it('one joined row is the row', () => {
    const row = { key: 1, id: 'ord_a', json: '{"a":1}', tag: '1-2' }
    expect(readJoined([row])).toEqual([row])
  })

  it('the joined rows of nothing are no orders', () => {
    expect(readJoined([])).toEqual([])
  })

  it('the joined rows upgrade only an order of an older schema version', () => {
    const [current, older] = readJoined([
      { key: 2, id: 'ord_b', json: '{"id":"ord_b"}' },
      { key: 1, id: 'ord_a', json: '{"id":"ord_a"}', shape: 0 },
    ])
    expect(current?.json).toBe('{"id":"ord_b"}')
    expect(JSON.parse(older?.json ?? '')).toMatchObject({ id: 'ord_a', customer: null })
  })
})
