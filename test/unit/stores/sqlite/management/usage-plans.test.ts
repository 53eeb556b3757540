import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { managementMigrations } from '../../../../../src/stores/sqlite/management/schema.ts'
import { createSqliteUsageStore } from '../../../../../src/stores/sqlite/management/usage-store.ts'
import { planOf, statementsOf } from '../../../../support/stores/query-plans.ts'

it('the last use of each key is found by seeks in an index, not in all counters', () => {
  const db = new DatabaseSync(':memory:')
  onTestFinished(() => db.close())
  for (const migration of managementMigrations) db.exec(migration)
  const statements = statementsOf(db, createSqliteUsageStore)
  const lastUse = statements.find((sql) => sql.includes('max(last_used_at)'))
  const steps = planOf(db, `${lastUse}`).filter((step) => step.includes('usage_counters'))
  const seek = 'SEARCH usage_counters USING COVERING INDEX usage_counters_last_use (account_id=?'
  expect(new Set(steps)).toEqual(
    new Set([`${seek})`, `${seek} AND key_id>?)`, `${seek} AND key_id=?)`]),
  )
})
