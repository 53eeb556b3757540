import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Capability, capabilities } from '../../../src/management/sessions/session-store.ts'
import { createTestConsole, type TestConsole, TOKEN } from '../../support/console/test-console.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

let one: TestConsole
let keyId: string
let otherKeyId: string
let endpointId: string
let otherEndpointId: string
let deliveryId: string
let otherDeliveryId: string
let testOrderId: string
let otherTestOrderId: string
beforeAll(async () => {
  one = await createTestConsole()
  keyId = (await one.issue({ accountId: 'acc_1' })).record.keyId
  otherKeyId = (await one.issue({ accountId: 'acc_2' })).record.keyId
  endpointId = await createEndpoint('acc_1')
  otherEndpointId = await createEndpoint('acc_2')
  deliveryId = await createDelivery('acc_1', endpointId)
  otherDeliveryId = await createDelivery('acc_2', otherEndpointId)
  testOrderId = await createTestOrder('acc_1')
  otherTestOrderId = await createTestOrder('acc_2')
})
afterAll(() => one.close())

async function createEndpoint(accountId: string): Promise<string> {
  const body = { url: 'https://erp.example/hook' }
  const url = `/v1/accounts/${accountId}/webhook-endpoints`
  return (await one.platform('POST', url, body)).json.id
}

async function createDelivery(accountId: string, endpoint: string): Promise<string> {
  const url = `/v1/accounts/${accountId}/webhook-endpoints/${endpoint}/test`
  return (await one.platform('POST', url, {})).json.id
}

async function createTestOrder(accountId: string): Promise<string> {
  const url = `/v1/accounts/${accountId}/sandbox-orders`
  return (await one.platform('POST', url, { scenario: 'pix_awaiting' })).json.id
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Every route of an account: its capability, method and path, and the status of an empty request,
 * which some refuse as invalid.
 */
const accountRoutes: [capability: Capability, method: Method, path: string, status: number][] = [
  ['keys', 'GET', '/keys', 200],
  ['keys', 'POST', '/keys', 201],
  ['keys', 'POST', '/keys/KEY/roll', 201],
  ['keys', 'POST', '/keys/KEY/revoke', 200],
  ['webhooks', 'GET', '/webhook-endpoints', 200],
  ['webhooks', 'POST', '/webhook-endpoints', 400],
  ['webhooks', 'GET', '/webhook-endpoints/WE', 200],
  ['webhooks', 'PATCH', '/webhook-endpoints/WE', 400],
  ['webhooks', 'POST', '/webhook-endpoints/WE/enable', 200],
  ['webhooks', 'POST', '/webhook-endpoints/WE/test', 200],
  ['webhooks', 'GET', '/deliveries/DLV', 200],
  ['webhooks', 'POST', '/deliveries/DLV/resend', 200],
  ['webhooks', 'POST', '/webhook-endpoints/WE/disable', 200],
  ['webhooks', 'POST', '/webhook-endpoints/WE/roll-secret', 200],
  ['webhooks', 'POST', '/webhook-endpoints/WE/replay', 400],
  ['webhooks', 'GET', '/webhook-endpoints/WE/deliveries', 200],
  ['webhooks', 'DELETE', '/webhook-endpoints/WE', 200],
  ['usage', 'GET', '/usage', 200],
  ['orders', 'GET', '/orders', 200],
  ['orders', 'GET', '/sandbox-orders', 200],
  ['orders', 'POST', '/sandbox-orders', 400],
  ['orders', 'POST', '/sandbox-orders/TO/pay', 200],
]
const urlOf = (accountId: string, path: string) => {
  const [key, endpoint, delivery, testOrder] =
    accountId === 'acc_1'
      ? [keyId, endpointId, deliveryId, testOrderId]
      : [otherKeyId, otherEndpointId, otherDeliveryId, otherTestOrderId]
  const named = path
    .replace('KEY', key)
    .replace('WE', endpoint)
    .replace('DLV', delivery)
    .replace('TO', testOrder)
  return `/v1/accounts/${accountId}${named}`
}
const bodyOf = (method: Method) => (['GET', 'DELETE'].includes(method) ? {} : { body: {} })

it('the table of routes has every route of an account', () => {
  const tested = accountRoutes.map(([_capability, method, path]) => {
    const route = path.replace(/KEY|WE|DLV|TO/, ':id').replace(/pay$/, ':move')
    return `${method} /v1/accounts/:account${route}`
  })
  const registered = one.routes.filter((route) => route.includes(' /v1/accounts/:account'))
  expect(new Set(tested)).toEqual(new Set(registered))
})

describe('a session', () => {
  it.each(accountRoutes)(
    'with %s alone may use %s %s',
    async (capability, method, path, expected) => {
      const session = await one.signIn({ capabilities: [capability] })
      const url = urlOf('acc_1', path)
      const { status } = await one.call(url, { method, session, ...bodyOf(method) })
      expect(status).toBe(expected)
    },
  )

  it.each(accountRoutes)('without %s does not see %s %s', async (capability, method, path) => {
    const others = capabilities.filter((name) => name !== capability)
    const session = await one.signIn({ capabilities: others })
    const url = urlOf('acc_1', path)
    const { status } = await one.call(url, { method, session, ...bodyOf(method) })
    expect(status).toBe(404)
  })

  it.each(accountRoutes)(
    'of another account (%s) does not see %s %s',
    async (_capability, method, path) => {
      const session = await one.signIn()
      const url = urlOf('acc_2', path)
      const { status } = await one.call(url, { method, session, ...bodyOf(method) })
      expect(status).toBe(404)
    },
  )

  it.each(accountRoutes)(
    'that is absent (%s) may not use %s %s',
    async (_capability, method, path) => {
      const { status, json } = await one.call(urlOf('acc_1', path), { method, ...bodyOf(method) })
      expect([status, json.error.code]).toEqual([401, 'invalid_api_key'])
    },
  )

  it('does not reach a key of another account by its id', async () => {
    const session = await one.signIn()
    const url = `/v1/accounts/acc_1/keys/${otherKeyId}/revoke`
    expect((await one.call(url, { method: 'POST', session, body: {} })).status).toBe(404)
    const [key] = await one.services.keys.list('acc_2')
    expect(key?.revokedAt).toBeNull()
  })

  it('creates at most 50 endpoints, which a token of the platform may exceed', async () => {
    const session = await one.signIn({ accountId: 'acc_many' })
    const create = async (test: boolean) => {
      const body = { url: 'https://erp.example/hook', test }
      const url = '/v1/accounts/acc_many/webhook-endpoints'
      return (await one.call(url, { method: 'POST', session, body })).status
    }
    await Promise.all(Array.from({ length: 50 }, () => createEndpoint('acc_many')))
    expect([await create(false), await create(true)]).toEqual([409, 201])
    expect(await createEndpoint('acc_many')).toMatch(/^we_/)
  })

  /** Creates keys with a token; returns their ids, and the calls of a session. */
  async function withKeys(accountId: string, count: number) {
    const url = `/v1/accounts/${accountId}/keys`
    const create = () => one.platform('POST', url)
    const created = await Promise.all(Array.from({ length: count }, create))
    const session = await one.signIn({ accountId })
    const post = async (path: string, body: object) =>
      (await one.call(`${url}${path}`, { method: 'POST', session, body })).status
    return { ids: created.map(({ json }) => json.id), create, post }
  }

  it('has at most 100 active keys, which a token of the platform may exceed', async () => {
    const { ids, create, post } = await withKeys('acc_keys', 99)
    expect([await post('', {}), await post('', {})]).toEqual([201, 409])
    expect(await post('', { test: true })).toBe(201)
    expect([await post(`/${ids[0]}/revoke`, {}), await post('', {})]).toEqual([200, 201])
    expect((await create()).status).toBe(201)
  })

  it('rolls a key at the limit or above it only without an overlap', async () => {
    const { ids, post } = await withKeys('acc_rolls', 101)
    const roll = (overlap: number) => post(`/${ids[0]}/roll`, { overlap_seconds: overlap })
    expect([await roll(60), await roll(0)]).toEqual([409, 201])
    expect(await post('', {})).toBe(409)
  })

  it('makes 100 changes at once, then gets 429, while reads, other users and other accounts continue', async () => {
    const session = await one.signIn({ accountId: 'acc_flood', capabilities: ['webhooks'] })
    const url = '/v1/accounts/acc_flood/webhook-endpoints'
    const change = () => one.call(`${url}/we_none/test`, { method: 'POST', session, body: {} })
    const responses = await Promise.all(Array.from({ length: 300 }, change))
    // In any order, because each of the first requests reads the session.
    const made = responses.filter(({ status }) => status === 404)
    expect(made.length).toBeGreaterThanOrEqual(100)
    const refused = responses.find(({ status }) => status === 429)
    expect(refused?.headers['retry-after']).toBe('1')
    expect(refused?.json.error).toMatchObject({ code: 'rate_limited' })
    expect((await one.call(url, { session })).status).toBe(200)
    const others = [
      { accountId: 'acc_flood', subject: 'bia' },
      { accountId: 'acc_calm', subject: 'ana' },
    ]
    for (const user of others) {
      const keys = `/v1/accounts/${user.accountId}/keys`
      const calm = { method: 'POST', session: await one.signIn(user), body: {} } as const
      expect((await one.call(keys, calm)).status).toBe(201)
    }
    expect(await createEndpoint('acc_flood')).toMatch(/^we_/)
  })

  it('ends at the limit of changes too, since the next person may use the same browser', async () => {
    const session = await one.signIn({ accountId: 'acc_leaving' })
    const url = '/v1/accounts/acc_leaving/webhook-endpoints/we_none/test'
    const change = () => one.call(url, { method: 'POST', session, body: {} })
    const responses = await Promise.all(Array.from({ length: 300 }, change))
    expect(responses.map(({ status }) => status)).toContain(429)
    expect((await one.call('/v1/session', { method: 'DELETE', session })).status).toBe(204)
  })

  it('does not reach a test order of another account by its id', async () => {
    const session = await one.signIn()
    const url = `/v1/accounts/acc_1/sandbox-orders/${otherTestOrderId}/pay`
    expect((await one.call(url, { method: 'POST', session, body: {} })).status).toBe(404)
    const { json } = await one.platform('GET', '/v1/accounts/acc_2/sandbox-orders')
    expect(json.data).toMatchObject([{ id: otherTestOrderId, status: 'AWAITING_PAYMENT' }])
  })

  it('does not reach a sandbox as an account of its own', async () => {
    const session = await one.signIn()
    for (const path of ['keys', 'orders', 'sandbox-orders']) {
      expect((await one.call(`/v1/accounts/acc_1.test/${path}`, { session })).status).toBe(404)
    }
  })

  it('lists the scenarios of test orders with orders alone', async () => {
    const list = async (parts: readonly Capability[]) => {
      const session = await one.signIn({ capabilities: parts })
      return (await one.call('/v1/sandbox-scenarios', { session })).status
    }
    expect(await list(['orders'])).toBe(200)
    expect(await list(['keys', 'webhooks', 'usage'])).toBe(404)
    expect((await one.call('/v1/sandbox-scenarios')).status).toBe(401)
  })

  it.each<[Method, string]>([
    ['GET', '/v1/accounts/acc_1/block'],
    ['PUT', '/v1/accounts/acc_1/block'],
    ['DELETE', '/v1/accounts/acc_1/block'],
    ['POST', '/v1/accounts/acc_1/sessions'],
    ['GET', '/v1/audit'],
    ['GET', '/v1/audit?account_id=acc_1'],
    ['POST', '/v1/source-orders'],
    ['GET', '/v1/orders'],
  ])('does not find the management-only route %s %s', async (method, url) => {
    const session = await one.signIn()
    const { status } = await one.call(url, { method, session, ...bodyOf(method) })
    expect(status).toBe(404)
  })
})

it('a token of the management API opens nothing of the console', async () => {
  const headers = { authorization: `Bearer ${TOKEN}` }
  expect((await one.call('/v1/accounts/acc_1/keys', { headers })).status).toBe(401)
})

it('the latest orders are the 20 newest of the account', async () => {
  const session = await one.signIn({ accountId: 'acc_shop' })
  await one.load(
    Array.from({ length: 25 }, (_, at) =>
      sourceOrder({
        id: `ord_${at}`,
        owner_account_id: 'acc_shop',
        created_at: new Date(Date.UTC(2026, 0, 1 + at)).toISOString(),
      }),
    ),
  )
  const { json } = await one.call('/v1/accounts/acc_shop/orders', { session })
  const ids = json.data.map(({ id }: { id: string }) => id)
  expect(ids).toEqual(Array.from({ length: 20 }, (_, at) => `ord_${24 - at}`))
})

it('a test order never appears among the latest orders', async () => {
  const session = await one.signIn({ accountId: 'acc_tests' })
  const url = '/v1/accounts/acc_tests'
  const body = { scenario: 'card_paid' }
  const created = await one.call(`${url}/sandbox-orders`, { method: 'POST', session, body })
  expect(created.status).toBe(201)
  await one.refresh()
  expect((await one.call(`${url}/orders`, { session })).json.data).toEqual([])
})
