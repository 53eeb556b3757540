import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../support/http/test-app.ts'
import { sourceOrder } from '../support/orders/source-order.ts'

let app: TestApp
/** An app that allows one request a second. */
let limitedApp: TestApp
beforeAll(async () => {
  app = await createTestApp()
  limitedApp = await createTestApp({ RATE_LIMIT_CAPACITY: '1', RATE_LIMIT_REFILL_PER_SECOND: '1' })
  await app.load([sourceOrder({ id: 'ord_1' })])
})
afterAll(() => Promise.all([app.close(), limitedApp.close()]))

/** The stored counts of an account, without the day. */
async function usageOf(accountId: string, { services }: TestApp = app) {
  await services.usage.flush()
  const days = { fromDay: '2000-01-01', toDay: '9999-12-31' }
  const counters = await services.managementStores.usage.list({ accountId, ...days })
  return counters.map(({ keyId, requests, byStatus, rateLimited }) => {
    return { keyId, requests, byStatus, rateLimited }
  })
}

it('counts every response to a key by status, 304, 400 and 404 included', async () => {
  const { key, record } = await app.issue()
  const { headers } = await app.call('/v1/orders/ord_1', { key })
  await app.call('/v1/orders/ord_1', { key, headers: { 'if-none-match': `${headers['etag']}` } })
  await app.call('/v1/orders/ord_missing', { key })
  await app.call('/v1/orders?limit=0', { key })
  await app.call('/v1/unknown', { key })
  await app.call('/v1/orders', { key })
  expect(await usageOf('acc_1')).toEqual([
    {
      keyId: record.keyId,
      requests: 6,
      byStatus: { 200: 2, 304: 1, 400: 1, 404: 2 },
      rateLimited: 0,
    },
  ])
})

it('counts a response beyond the rate limit, and reports it apart', async () => {
  const { key } = await limitedApp.issue()
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => limitedApp.call('/v1/orders', { key })),
  )
  const limited = answers.filter(({ status }) => status === 429).length
  expect(limited).toBeGreaterThan(0)
  expect(await usageOf('acc_1', limitedApp)).toMatchObject([
    { requests: 30, byStatus: { 200: 30 - limited, 429: limited }, rateLimited: limited },
  ])
})

it('counts the refusals of a valid key without access', async () => {
  const { key, record } = await app.issue({ accountId: 'acc_without_scope', scopes: [] })
  await app.call('/v1/orders', { key })
  expect(await usageOf('acc_without_scope')).toMatchObject([
    { keyId: record.keyId, byStatus: { 403: 1 } },
  ])
})

it('counts nothing without a valid key', async () => {
  const { key, record } = await app.issue({ accountId: 'acc_without_key' })
  await app.call('/v1/orders')
  await app.call('/v1/orders', { key: `${key.slice(0, -1)}#` })
  await app.services.keys.update(record.digest, { revokedAt: 1 })
  await app.call('/v1/orders', { key })
  expect(await usageOf('acc_without_key')).toEqual([])
})

it('shows the last use of a key as of the last flush', async () => {
  const { key, record } = await app.issue({ accountId: 'acc_last_use' })
  const startedAt = Date.now()
  await app.call('/v1/orders', { key })
  await app.services.usage.flush()
  const usedAt = await app.services.managementStores.usage.lastUsedAt('acc_last_use')
  expect([...usedAt.keys()]).toEqual([record.keyId])
  expect(usedAt.get(record.keyId)).toBeGreaterThanOrEqual(startedAt)
})
