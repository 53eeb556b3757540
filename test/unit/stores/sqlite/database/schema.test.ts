import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ordersMigrations } from '../../../../../src/stores/sqlite/database/schema.ts'

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
