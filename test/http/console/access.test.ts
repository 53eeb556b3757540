import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Capability, capabilities } from '../../../src/management/sessions/session-store.ts'
import { createTestConsole, type TestConsole, TOKEN } from '../../support/console/test-console.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

let one: TestConsole
let keyId: string
let otherKeyId: string
let endpointId: string
let otherEndpointId: string
beforeAll(async () => {
  one = await createTestConsole()
  keyId = (await one.issue({ accountId: 'acc_1' })).record.keyId
  otherKeyId = (await one.issue({ accountId: 'acc_2' })).record.keyId
  endpointId = await createEndpoint('acc_1')
  otherEndpointId = await createEndpoint('acc_2')
})
afterAll(() => one.close())

async function createEndpoint(accountId: string): Promise<string> {
  const body = { url: 'https://erp.example/hook' }
  const url = `/v1/accounts/${accountId}/webhook-endpoints`
  return (await one.platform('POST', url, body)).json.id
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Every route of an account: its capability, method and path. */
const routes: [Capability, Method, string][] = [
  ['keys', 'GET', '/keys'],
  ['keys', 'POST', '/keys'],
  ['keys', 'POST', '/keys/KEY/roll'],
  ['keys', 'POST', '/keys/KEY/revoke'],
  ['webhooks', 'GET', '/webhook-endpoints'],
  ['webhooks', 'POST', '/webhook-endpoints'],
  ['webhooks', 'GET', '/webhook-endpoints/WE'],
  ['webhooks', 'PATCH', '/webhook-endpoints/WE'],
  ['webhooks', 'POST', '/webhook-endpoints/WE/enable'],
  ['webhooks', 'POST', '/webhook-endpoints/WE/disable'],
  ['webhooks', 'POST', '/webhook-endpoints/WE/roll-secret'],
  ['webhooks', 'POST', '/webhook-endpoints/WE/replay'],
  ['webhooks', 'GET', '/webhook-endpoints/WE/deliveries'],
  ['webhooks', 'DELETE', '/webhook-endpoints/WE'],
  ['usage', 'GET', '/usage'],
  ['orders', 'GET', '/orders'],
]
const urlOf = (accountId: string, path: string) => {
  const [key, endpoint] =
    accountId === 'acc_1' ? [keyId, endpointId] : [otherKeyId, otherEndpointId]
  return `/v1/accounts/${accountId}${path.replace('KEY', key).replace('WE', endpoint)}`
}
const bodyOf = (method: Method) => (['GET', 'DELETE'].includes(method) ? {} : { body: {} })

describe('a session', () => {
  it.each(routes)('with %s alone may use %s %s', async (capability, method, path) => {
    const session = await one.signIn({ capabilities: [capability] })
    const url = urlOf('acc_1', path)
    const { status } = await one.call(url, { method, session, ...bodyOf(method) })
    // An empty body is invalid for some routes, and earlier routes change the state for others.
    expect([200, 201, 400, 409]).toContain(status)
  })

  it.each(routes)('without %s does not see %s %s', async (capability, method, path) => {
    const others = capabilities.filter((name) => name !== capability)
    const session = await one.signIn({ capabilities: others })
    const url = urlOf('acc_1', path)
    const { status } = await one.call(url, { method, session, ...bodyOf(method) })
    expect(status).toBe(404)
  })

  it.each(routes)(
    'of another account (%s) does not see %s %s',
    async (_capability, method, path) => {
      const session = await one.signIn()
      const url = urlOf('acc_2', path)
      const { status } = await one.call(url, { method, session, ...bodyOf(method) })
      expect(status).toBe(404)
    },
  )

  it.each(routes)('that is absent (%s) may not use %s %s', async (_capability, method, path) => {
    const { status, json } = await one.call(urlOf('acc_1', path), { method, ...bodyOf(method) })
    expect([status, json.error.code]).toEqual([401, 'invalid_api_key'])
  })

  it('does not reach a key of another account by its id', async () => {
    const session = await one.signIn()
    const url = `/v1/accounts/acc_1/keys/${otherKeyId}/revoke`
    expect((await one.call(url, { method: 'POST', session, body: {} })).status).toBe(404)
    const [key] = await one.services.keys.list('acc_2')
    expect(key?.revokedAt).toBeNull()
  })

  it.each<[Method, string]>([
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
