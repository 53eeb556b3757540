import { describe, expect, it } from 'vitest'
import { checkManagementResponse } from '../../harness/traffic/openapi-check.ts'
import { READER } from '../../support/management/build-management.ts'
import { useManagementApi } from '../../support/management/management-api.ts'

const test = useManagementApi()

const ACCOUNT = '/accounts/acc_1'
const KEYS = `${ACCOUNT}/keys`
const ENDPOINTS = `${ACCOUNT}/webhook-endpoints`

// `call` validates every response against the description.
describe('the life of a resource matches the description of the management API', () => {
  it('a key is created, listed, rolled and revoked as described', async () => {
    const { json: key } = await test.api.post(KEYS, { name: 'ERP' })
    const { json: rolled } = await test.api.post(`${KEYS}/${key.id}/roll`, {})
    await test.api.post(`${KEYS}/${rolled.id}/revoke`)
    const { json: list } = await test.api.get(KEYS, { token: READER })
    const ids = list.data.map(({ id }: { id: string }) => id)
    expect(new Set(ids)).toEqual(new Set([key.id, rolled.id]))
  })

  it('an endpoint, its secret and its deliveries are as described', async () => {
    const url = 'https://loja.exemplo.com.br/pedidos'
    const { json: created } = await test.api.post(ENDPOINTS, { url, events: ['order.paid'] })
    const one = `${ENDPOINTS}/${created.id}`
    await test.api.call('PATCH', one, { body: { payload: 'thin' } })
    const { json: delivery } = await test.api.post(`${one}/test`)
    await test.api.get(`${ACCOUNT}/deliveries/${delivery.id}`)
    await test.api.post(`${ACCOUNT}/deliveries/${delivery.id}/resend`)
    await test.api.post(`${one}/replay`, { since: new Date(Date.now() - 60_000).toISOString() })
    await test.api.post(`${one}/roll-secret`, { overlap_seconds: 60 })
    await test.api.post(`${one}/disable`)
    await test.api.post(`${one}/enable`)
    const { json: list } = await test.api.get(`${one}/deliveries?state=pending`)
    await test.api.get(ENDPOINTS)
    expect((await test.api.call('DELETE', one)).status).toBe(200)
    expect(list.data).toMatchObject([{ id: delivery.id }])
  })

  it('a block, the usage and a page of the audit log are as described', async () => {
    await test.api.call('PUT', `${ACCOUNT}/block`)
    await test.api.get(`${ACCOUNT}/block`)
    await test.api.call('DELETE', `${ACCOUNT}/block`)
    await test.api.services.managementStores.usage.save([
      {
        ...{ accountId: 'acc_1', keyId: 'key_1', processId: 'run_1', day: '2026-11-23' },
        ...{ requests: 1, byStatus: { 200: 1 }, rateLimited: 0, lastUsedAt: 1 },
      },
    ])
    await test.api.refresh()
    const { json: usage } = await test.api.get(`${ACCOUNT}/usage?from=2026-11-01&to=2026-11-30`)
    expect(usage.data).toHaveLength(1)
    const { json: page } = await test.api.get('/audit?account_id=acc_1&limit=1')
    expect(page).toMatchObject({ has_more: true, data: [{ object: 'audit_entry' }] })
  })
})

it('a link to the console and the life of a sandbox order match the description', async () => {
  const session = { subject: 'maria', capabilities: ['orders'] }
  expect(await test.api.post(`${ACCOUNT}/sessions`, session)).toMatchObject({ status: 201 })
  const { json: scenarios } = await test.api.get('/sandbox-scenarios', { token: READER })
  const orders = `${ACCOUNT}/sandbox-orders`
  const { json: order } = await test.api.post(orders, { scenario: scenarios.data[0].id })
  expect(await test.api.post(`${orders}/${order.id}/erase`)).toMatchObject({ status: 200 })
  const { json: list } = await test.api.get(orders)
  expect(list.data).toMatchObject([{ id: order.id, erased: true }])
})

describe('checkManagementResponse', () => {
  const url = `/v1${KEYS}`
  const headers = { 'request-id': `req_${'0'.repeat(32)}`, 'cache-control': 'no-store' }
  const json = { object: 'list', data: [], has_more: false, next_cursor: null }

  it('accepts a described response', () => {
    expect(() => checkManagementResponse({ url, status: 200, headers, json })).not.toThrow()
  })

  it.each([
    ['another status', { status: 202 }, 'not described'],
    ['an undocumented field', { json: { ...json, total: 0 } }, 'additional properties'],
    ['a missing header', { headers: {} }, 'header request-id is missing'],
    ['an undocumented header', { headers: { ...headers, server: 'x' } }, 'not described: server'],
    ['an unknown route with 200', { url: '/v1/nothing' }, 'not described'],
    ['a method without an operation', { method: 'DELETE' }, 'not described'],
  ])('reports %s', (_what, change, message) => {
    const answer = { url, status: 200, headers, json, ...change }
    expect(() => checkManagementResponse(answer)).toThrow(message)
  })
})
