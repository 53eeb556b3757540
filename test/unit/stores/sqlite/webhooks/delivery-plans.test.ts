import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createSqliteDeliveryStore } from '../../../../../src/stores/sqlite/webhooks/delivery-store.ts'
import { prepareDeliveryInsert } from '../../../../../src/stores/sqlite/webhooks/insert-deliveries.ts'
import { webhooksMigrations } from '../../../../../src/stores/sqlite/webhooks/schema.ts'
import { planOf, statementsOf } from '../../../../support/stores/query-plans.ts'

let db: DatabaseSync
beforeEach(() => {
  db = new DatabaseSync(':memory:')
  for (const migration of webhooksMigrations) db.exec(migration)
})
afterEach(() => db.close())

const statements = () =>
  statementsOf(db, (recording) => {
    createSqliteDeliveryStore(recording, prepareDeliveryInsert(recording))
  })

it('no statement of the delivery store scans the table or sorts', () => {
  const plans = statements().flatMap((sql) => planOf(db, sql))
  expect(plans.length).toBeGreaterThan(0)
  expect(plans.filter((step) => /SCAN deliveries|TEMP B-TREE/.test(step))).toEqual([])
})

it('the due deliveries are read in the order of their index, from the first that is due', () => {
  const due = statements().find((sql) => sql.includes('next_at <= ?') && sql.includes('LIMIT'))
  expect(planOf(db, `${due}`)[0]).toBe(
    'SEARCH deliveries USING INDEX deliveries_pending (endpoint_id=? AND next_at<?)',
  )
})
