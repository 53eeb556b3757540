import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
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
  for (const step of LATER) db.exec(step)
  expect(db.prepare('SELECT stamped_live FROM writer').all()).toEqual([{ stamped_live: expected }])
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
