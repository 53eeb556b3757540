import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../../../../src/stores/sqlite/database/database.ts'
import { guardDatabase } from '../../../../../src/stores/sqlite/database/guarded-database.ts'
import { createSqliteAuditStore } from '../../../../../src/stores/sqlite/management/audit-store.ts'
import { managementMigrations } from '../../../../../src/stores/sqlite/management/schema.ts'
import { createTestFolder } from '../../../../support/stores/test-folder.ts'

const WITHOUT_SUCCESSOR = managementMigrations.slice(0, 3)
const BUSY_MS = 1_000

it('an entry from before rolls named the new key is listed as it was stored', async () => {
  const folder = createTestFolder()
  const file = join(folder, 'management.db')
  const earlier = openDatabase(file, WITHOUT_SUCCESSOR, BUSY_MS)
  earlier.exec(`
    INSERT INTO audit_entries
    VALUES ('aud_1', 1, 'cli', 'acc_1', 'key.roll', 'key_1', NULL, 'done')
  `)
  earlier.close()
  const db = guardDatabase(
    openDatabase(file, managementMigrations, BUSY_MS),
    file,
    managementMigrations,
  )
  onTestFinished(() => db.close())
  expect(await createSqliteAuditStore(db).list({ limit: 10, after: null })).toEqual([
    {
      ...{ id: 'aud_1', at: 1, actor: 'cli', requestId: null, outcome: 'done' },
      ...{ accountId: 'acc_1', action: 'key.roll', target: 'key_1' },
    },
  ])
})
