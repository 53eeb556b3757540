import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sandboxOf } from '../../src/auth/account-ids.ts'
import { generateApiKey } from '../../src/auth/api-key.ts'
import { issueKey } from '../../src/auth/issue-key.ts'
import { createTestApp, type TestApp } from '../support/http/test-app.ts'
import { sourceOrder } from '../support/orders/source-order.ts'

const CAPACITY = 50
const ORDERS = 3

let app: TestApp
beforeAll(async () => {
  app = await createTestApp({
    RATE_LIMIT_CAPACITY: String(CAPACITY),
    RATE_LIMIT_REFILL_PER_SECOND: '1',
  })
})
afterAll(() => app.close())

let accounts = 0

/** An account with orders in both, and a key of each. */
async function accountWithSandbox() {
  const accountId = `acc_both_${++accounts}`
  const ids = (mode: string) =>
    Array.from({ length: ORDERS }, (_, place) => `ord_${mode}_${accounts}_${place}`)
  const ordersOf = (owner: string, mode: string) =>
    ids(mode).map((id) => sourceOrder({ id, owner_account_id: owner }))
  await app.load([...ordersOf(accountId, 'live'), ...ordersOf(sandboxOf(accountId), 'test')])
  const [live, test] = await Promise.all([
    app.issue({ accountId }),
    app.issue({ accountId, isTest: true }),
  ])
  return { accountId, live, test, liveIds: ids('live'), testIds: ids('test') }
}

const idsOf = (list: { data: { id: string }[] }) => new Set(list.data.map(({ id }) => id))

describe('a key of the sandbox', () => {
  it('lists the orders of the sandbox alone, and a live key those of the account alone', async () => {
    const { live, test, liveIds, testIds } = await accountWithSandbox()
    expect(idsOf(await app.list('', live.key))).toEqual(new Set(liveIds))
    expect(idsOf(await app.list('', test.key))).toEqual(new Set(testIds))
  })

  it('does not find an order of the account by its id, nor the reverse', async () => {
    const { live, test, liveIds, testIds } = await accountWithSandbox()
    const missing = { status: 404, code: 'resource_missing' }
    expect(await app.error(`/v1/orders/${liveIds[0]}`, { key: test.key })).toMatchObject(missing)
    expect(await app.error(`/v1/orders/${testIds[0]}`, { key: live.key })).toMatchObject(missing)
    expect(await app.call(`/v1/orders/${testIds[0]}`, { key: test.key })).toMatchObject({
      status: 200,
      json: { id: testIds[0], role: 'OWNER' },
    })
  })

  it('has cursors of its own', async () => {
    const { live, test } = await accountWithSandbox()
    const refused = { status: 400, code: 'invalid_request', param: 'cursor' }
    for (const [from, to] of [
      [live, test],
      [test, live],
    ] as const) {
      const { next_cursor } = await app.list('limit=1', from.key)
      const url = `/v1/orders?limit=1&cursor=${next_cursor}`
      expect(await app.error(url, { key: to.key })).toMatchObject(refused)
    }
  })

  it('has a rate limit of its own', async () => {
    const { live, test } = await accountWithSandbox()
    for (let call = 0; call < 10; call += 1) await app.list('', test.key)
    const { headers } = await app.call('/v1/orders', { key: live.key })
    expect(headers['ratelimit-remaining']).toBe(String(CAPACITY - 1))
  })

  it('is blocked with its account', async () => {
    const { accountId, test } = await accountWithSandbox()
    await app.services.keys.setAccountBlocked(accountId, true)
    expect(await app.error('/v1/orders', { key: test.key })).toMatchObject({
      status: 403,
      code: 'account_blocked',
    })
  })

  it.each([
    ['test', false],
    ['live', true],
  ] as const)(
    'is invalid when its prefix says %s and its record the reverse',
    async (mode, isTest) => {
      const grant = { accountId: 'acc_1', isTest, scopes: ['orders:read' as const], name: null }
      const given = { key: generateApiKey(mode) }
      const { key } = await issueKey(app.services, { ...grant, expiresAt: null }, 0, given)
      expect(await app.error('/v1/orders', { key })).toMatchObject({
        status: 401,
        code: 'invalid_api_key',
      })
    },
  )
})
