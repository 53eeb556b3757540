import type { FastifyInstance, InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkManagementResponse } from '../harness/traffic/openapi-check.ts'
import { createTestApp, type TestApp } from '../support/http/test-app.ts'
import { ADMIN, buildManagement, READER } from '../support/management/build-management.ts'
import { fillSandbox } from '../support/management/sandbox.ts'

const TOKENS = { admin: ADMIN, read: READER } as const

let app: TestApp
let management: FastifyInstance
beforeAll(async () => {
  app = await createTestApp()
  management = buildManagement(app.services, app.config).api
  await management.ready()
})
afterAll(async () => {
  await management.close()
  await app.close()
})

type Method = NonNullable<InjectOptions['method']>

async function call(
  method: Method,
  url: string,
  body?: object,
  role: keyof typeof TOKENS = 'admin',
) {
  const headers = { authorization: `Bearer ${TOKENS[role]}` }
  const response = await management.inject({ method, url, headers, ...(body && { payload: body }) })
  const { statusCode: status } = response
  const json = response.json()
  checkManagementResponse({ method, url, status, headers: response.headers, json })
  return { status, json }
}

let accounts = 0
const newAccount = () => `acc_sandbox_${++accounts}`
const ordersOf = (account: string) => `/v1/accounts/${account}/sandbox-orders`

async function create(account: string, scenario: string) {
  const { status, json } = await call('POST', ordersOf(account), { scenario })
  expect(status).toBe(201)
  await app.refresh()
  return json
}

describe('the sandbox over HTTP', () => {
  it('a test key made over HTTP reads the life of an order', async () => {
    const account = newAccount()
    const keys = `/v1/accounts/${account}/keys`
    const { json: made } = await call('POST', keys, { test: true })
    expect(made).toMatchObject({
      account_id: account,
      test: true,
      key: expect.stringMatching(/^key_test_/),
    })
    const { id } = await create(account, 'pix_awaiting')
    const status = async () => (await app.call(`/v1/orders/${id}`, { key: made.key })).json.status
    expect(await status()).toBe('AWAITING_PAYMENT')
    const { json: paid } = await call('POST', `${ordersOf(account)}/${id}/pay`)
    expect(paid).toMatchObject({ id, status: 'PAID', moves: ['refund', 'dispute', 'erase'] })
    await app.refresh()
    expect(await status()).toBe('PAID')
    expect((await app.list('status=PAID', made.key)).data).toMatchObject([{ id }])
    const { json: erased } = await call('POST', `${ordersOf(account)}/${id}/erase`)
    expect(erased).toMatchObject({ erased: true, status: null, moves: [] })
    await app.refresh()
    expect(await app.error(`/v1/orders/${id}`, { key: made.key })).toMatchObject({ status: 404 })
  })

  it('every scenario of the list can be created, and is visible', async () => {
    const account = newAccount()
    const { key } = await app.issue({ accountId: account, isTest: true })
    const { json } = await call('GET', '/v1/sandbox-scenarios', undefined, 'read')
    for (const { id } of json.data) await create(account, id)
    const { data, has_more } = await app.list('limit=100', key)
    expect([data.length, has_more]).toEqual([json.data.length, false])
  })

  it('lists the orders of an account, newest first, in pages', async () => {
    const account = newAccount()
    const made = [await create(account, 'card_paid'), await create(account, 'trial')]
    const first = await call('GET', `${ordersOf(account)}?limit=1`, undefined, 'read')
    expect(first.json).toMatchObject({ object: 'list', data: { length: 1 }, has_more: true })
    const next = await call('GET', `${ordersOf(account)}?limit=1&cursor=${first.json.next_cursor}`)
    const pages = [...first.json.data, ...next.json.data]
    expect(new Set(pages.map(({ id }) => id))).toEqual(new Set(made.map(({ id }) => id)))
    expect((await call('GET', ordersOf(newAccount()))).json.data).toEqual([])
  })

  it('refuses an impossible move, and names the possible ones', async () => {
    const account = newAccount()
    const { id } = await create(account, 'dispute')
    const { status, json } = await call('POST', `${ordersOf(account)}/${id}/pay`)
    expect({ status, code: json.error.code }).toEqual({ status: 409, code: 'conflict' })
    expect(json.error.message).toContain('win, erase')
  })

  it('refuses an unknown move and an unknown field for an order that exists', async () => {
    const order = `${ordersOf('acc_moves')}/${(await create('acc_moves', 'card_paid')).id}`
    expect(await call('POST', `${order}/ship`)).toMatchObject({ status: 404 })
    const refused = { status: 400, json: { error: { param: 'amount' } } }
    expect(await call('POST', `${order}/refund`, { amount: 1 })).toMatchObject(refused)
  })

  it('a cursor is of one account', async () => {
    const [account, other] = [newAccount(), newAccount()]
    await create(account, 'card_paid')
    await create(account, 'card_paid')
    const { next_cursor: cursor } = (await call('GET', `${ordersOf(account)}?limit=1`)).json
    const refused = { status: 400, json: { error: { param: 'cursor' } } }
    expect(await call('GET', `${ordersOf(other)}?cursor=${cursor}`)).toMatchObject(refused)
  })

  it.each<[string, Method, string, object | undefined, number, object]>([
    ['an unknown scenario', 'POST', '', { scenario: 'none' }, 400, { param: 'scenario' }],
    ['no scenario', 'POST', '', {}, 400, { param: 'scenario' }],
    ['an unknown field', 'POST', '', { scenario: 'trial', a: 1 }, 400, { param: 'a' }],
    ['a missing order', 'POST', '/ord_test_1/pay', undefined, 404, {}],
    ['a malformed cursor', 'GET', '?cursor=x', undefined, 400, { param: 'cursor' }],
  ])('refuses %s', async (_what, method, path, body, status, error) => {
    const answer = await call(method, ordersOf(newAccount()) + path, body)
    expect(answer).toMatchObject({ status, json: { error } })
  })

  it('refuses an order over the limit of an account, and says what to do', async () => {
    const account = newAccount()
    await fillSandbox(app.services.managementStores.sandbox, account)
    await app.refresh()
    const { status, json } = await call('POST', ordersOf(account), { scenario: 'trial' })
    expect({ status, code: json.error.code }).toEqual({ status: 409, code: 'conflict' })
    expect(json.error.message).toContain('já tem 1000 pedidos. Apague um deles com erase')
  })

  it('a token of the role read changes nothing', async () => {
    const answer = await call('POST', ordersOf(newAccount()), { scenario: 'trial' }, 'read')
    expect(answer).toMatchObject({ status: 403, json: { error: { code: 'forbidden_role' } } })
  })

  it.each(['keys', 'sandbox-orders'])(
    'the internal id of a sandbox is no account of %s',
    async (route) => {
      const { status, json } = await call('GET', `/v1/accounts/acc_1.test/${route}`)
      expect({ status, code: json.error.code }).toEqual({ status: 400, code: 'invalid_request' })
    },
  )

  it('a webhook endpoint is of the sandbox with "test": true', async () => {
    const account = newAccount()
    const url = `/v1/accounts/${account}/webhook-endpoints`
    const body = { url: 'https://receiver.example/hooks', test: true }
    const { json } = await call('POST', url, body)
    expect(json).toMatchObject({ account_id: account, test: true })
    expect((await call('GET', url)).json.data).toMatchObject([{ id: json.id, test: true }])
  })

  it('the last use of a test key is shown with those of its account', async () => {
    const account = newAccount()
    const { record } = await app.issue({ accountId: account, isTest: true })
    const counted = { day: '2026-03-01', keyId: record.keyId, processId: 'p', requests: 1 }
    const lastUsedAt = Date.parse('2026-03-01T12:00:00Z')
    const counters = { ...counted, byStatus: { 200: 1 }, rateLimited: 0, lastUsedAt }
    await app.services.managementStores.usage.save([{ ...counters, accountId: `${account}.test` }])
    const { json } = await call('GET', `/v1/accounts/${account}/keys`)
    expect(json.data).toMatchObject([{ test: true, last_used_at: '2026-03-01T12:00:00.000Z' }])
  })
})
