import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await createTestApp()
})
afterAll(() => app.close())

it('authentication continues while another process locks the key store, because it never waits for the use record', async () => {
  const { key: used, record } = await app.issue({ accountId: 'acc_held' })
  const other = new DatabaseSync(join(app.config.dataDir, 'keys.db'))
  other.exec('BEGIN IMMEDIATE')
  try {
    expect((await app.call('/v1/orders', { key: used })).status).toBe(200)
    expect((await app.services.keys.byId(record.keyId))?.lastValidAt).toBeNull()
  } finally {
    other.close()
  }
})
