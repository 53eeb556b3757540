import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { HOUR_MS } from '../../../src/lib/durations.ts'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await createTestApp({ REQUEST_DEADLINE_MS: '1000' })
})
afterAll(() => app.close())

/** Runs `work` while another process holds the write lock of the key store. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  const other = new DatabaseSync(join(app.config.dataDir, 'keys.db'))
  other.exec('BEGIN IMMEDIATE')
  await work().finally(() => other.close())
}

it('authentication continues while another process locks the key store, because later uses are recorded in the background', async () => {
  const { key, record } = await app.issue({ accountId: 'acc_held' })
  const usedAt = app.clock.nowMs - 2 * HOUR_MS
  await app.services.keys.update(record.digest, { lastValidAt: usedAt })
  await whileLocked(async () => {
    expect((await app.call('/v1/orders', { key })).status).toBe(200)
    expect((await app.services.keys.byId(record.keyId))?.lastValidAt).toBe(usedAt)
  })
})

it('the first use of a key returns 503 and no page while another process locks the key store', async () => {
  const { key, record } = await app.issue({ accountId: 'acc_new' })
  await whileLocked(async () => {
    expect((await app.call('/v1/orders', { key })).status).toBe(503)
  })
  // The failure holds for a second.
  await expect.poll(async () => (await app.call('/v1/orders', { key })).status).toBe(200)
  expect((await app.services.keys.byId(record.keyId))?.lastValidAt).toBe(app.clock.nowMs)
})
