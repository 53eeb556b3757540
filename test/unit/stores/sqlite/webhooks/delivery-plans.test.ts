import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { GuardedDatabase } from '../../../../../src/stores/sqlite/database/guarded-database.ts'
import { createSqliteDeliveryStore } from '../../../../../src/stores/sqlite/webhooks/delivery-store.ts'
import { prepareDeliveryInsert } from '../../../../../src/stores/sqlite/webhooks/insert-deliveries.ts'
import { webhooksMigrations } from '../../../../../src/stores/sqlite/webhooks/schema.ts'

let db: DatabaseSync
beforeEach(() => {
  db = new DatabaseSync(':memory:')
  for (const migration of webhooksMigrations) db.exec(migration)
})
afterEach(() => db.close())

/** The statements that the store prepares. */
function statements(): string[] {
  const prepared: string[] = []
  const recording: GuardedDatabase = {
    prepare(sql) {
      prepared.push(sql)
      return db.prepare(sql)
    },
    run: (work) => work(),
    write: (work) => work(),
    close() {},
  }
  createSqliteDeliveryStore(recording, prepareDeliveryInsert(recording))
  return prepared
}

const planOf = (sql: string) =>
  db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => String(detail))

it('no statement of the delivery store scans the table or sorts', () => {
  const plans = statements().flatMap(planOf)
  expect(plans.length).toBeGreaterThan(0)
  expect(plans.filter((step) => /SCAN deliveries|TEMP B-TREE/.test(step))).toEqual([])
})

it('the due deliveries are read in the order of their index, from the first that is due', () => {
  const due = statements().find((sql) => sql.includes('next_at <= ?') && sql.includes('LIMIT'))
  expect(planOf(`${due}`)[0]).toBe(
    'SEARCH deliveries USING INDEX deliveries_pending (endpoint_id=? AND next_at<?)',
  )
})
