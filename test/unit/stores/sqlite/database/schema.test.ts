import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NULL_INSTANT_KEY } from '../../../../../src/orders/order-store.ts'
import { applyMigrations } from '../../../../../src/stores/sqlite/database/database.ts'
import { fillChecksums } from '../../../../../src/stores/sqlite/database/fill-checksums.ts'
import { fillLookups } from '../../../../../src/stores/sqlite/database/fill-lookups.ts'
import {
  keysMigrations,
  ordersMigrations,
} from '../../../../../src/stores/sqlite/database/schema.ts'

const [FIRST, ...LATER] = ordersMigrations
const WRITE_TIMESTAMP = 5_000

let db: DatabaseSync
beforeEach(() => {
  db = new DatabaseSync(':memory:')
  db.exec(FIRST)
})
afterEach(() => db.close())

function putOrder(updatedKey: number) {
  const insert = `INSERT INTO orders VALUES ('acc_1', 'ord_1', 1, 'PAID', 'PIX', 1, ?, ${WRITE_TIMESTAMP}, x'7b7d')`
  db.prepare(insert).run(updatedKey)
}

it.each<[string, number | null, number]>([
  ['without orders has no live write', null, 0],
  ['whose orders keep their own dates has no live write', 4_000, 0],
  ['with an order dated by its bulk may have a live write', WRITE_TIMESTAMP, 1],
])('a database of the first version %s', (_what, updatedKey, expected) => {
  if (updatedKey !== null) putOrder(updatedKey)
  applyMigrations(db, LATER)
  expect(db.prepare('SELECT stamped_live FROM writer').all()).toEqual([{ stamped_live: expected }])
})

it('the clock reading of an earlier release, which may be ahead, is discarded', () => {
  applyMigrations(db, LATER.slice(0, LATER.indexOf(fillChecksums) + 1))
  db.exec(`UPDATE writer SET last_stamp = 1, boot_id = 'first', clock_ms = 2`)
  applyMigrations(db, LATER.slice(LATER.indexOf(fillChecksums) + 1))
  expect(db.prepare('SELECT last_stamp, boot_id FROM writer').all()).toEqual([
    { last_stamp: 1, boot_id: null },
  ])
})

describe('the orders of an earlier release', () => {
  const EARLIER = LATER.slice(0, LATER.indexOf(fillLookups))
  const putEarlier = (id: string, json: object | string) =>
    db
      .prepare(`INSERT INTO orders VALUES ('acc_1', ?, 1, 'PAID', 'PIX', 1, 2, 3, ?)`)
      .run(id, Buffer.from(typeof json === 'string' ? json : JSON.stringify(json)))
  const ana = {
    paid_at: '2026-03-01T12:00:00.500Z',
    customer: { email: 'Ana@X.com', document: '12345678909' },
    items: [{ product_id: 'prod_1' }, { product_id: 'prod_2' }, { product_id: 'prod_1' }],
  }
  const lookups = () =>
    db
      .prepare('SELECT id, field, value FROM order_lookups ORDER BY id, field, value')
      .all()
      .map(({ id, field, value }) => [id, field, value].join(' '))

  it('gain the keys of the later filters', () => {
    applyMigrations(db, EARLIER)
    putEarlier('ord_1', ana)
    putEarlier('ord_2', { paid_at: null, customer: { email: 'rita@x.com', document: null } })
    applyMigrations(db, LATER.slice(EARLIER.length))
    expect(lookups()).toEqual([
      'ord_1 customer_document 12345678909',
      'ord_1 customer_email ana@x.com',
      'ord_1 product_ids prod_1',
      'ord_1 product_ids prod_2',
      'ord_2 customer_email rita@x.com',
    ])
    expect(db.prepare('SELECT paid_key FROM orders ORDER BY id').all()).toEqual([
      { paid_key: Date.parse(ana.paid_at) },
      { paid_key: NULL_INSTANT_KEY },
    ])
    db.exec('DELETE FROM orders')
    expect(lookups()).toEqual([])
  })

  it('gain no keys where they are damaged', () => {
    applyMigrations(db, EARLIER)
    for (const [at, json] of ['', '{', 'null', '{"customer":1,"items":{}}'].entries()) {
      putEarlier(`ord_${at}`, json)
    }
    applyMigrations(db, LATER.slice(EARLIER.length))
    expect(lookups()).toEqual([])
  })
})

it('the keys of an earlier release are live keys', () => {
  const [first, ...later] = keysMigrations
  using keys = new DatabaseSync(':memory:')
  keys.exec(first)
  keys.exec(
    `INSERT INTO api_keys VALUES ('key_1', 'd1', 'acc_1', '', NULL, 'wxyz', 0, NULL, NULL, NULL, NULL)`,
  )
  for (const step of later) keys.exec(step)
  expect(keys.prepare('SELECT is_test FROM api_keys').all()).toEqual([{ is_test: 0 }])
})
