import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../src/lib/errors/unavailable.ts'
import { useManagementApi } from '../../support/management/management-api.ts'
import { createEndpoint, storeDeliveries } from '../../support/management/webhook-endpoints.ts'

let isDown = false
const test = useManagementApi({
  stores: ({ audit, ...stores }) => ({
    ...stores,
    audit: {
      ...audit,
      async insert(entry) {
        if (isDown) throw new Unavailable('the audit log is down')
        return audit.insert(entry)
      },
    },
  }),
})

const MINUTE_AGO = new Date(Date.now() - 60_000).toISOString()

describe('while the audit log is unavailable, nothing changes', () => {
  it.each([
    ['PATCH', '', { payload: 'thin' }],
    ['DELETE', '', undefined],
    ['POST', '/disable', {}],
    ['POST', '/enable', {}],
    ['POST', '/roll-secret', {}],
    ['POST', '/test', {}],
    ['POST', '/replay', { since: MINUTE_AGO }],
  ] as const)('%s of an endpoint: %s', async (method, action, body) => {
    const endpoint = await createEndpoint(test.api)
    const [stored] = await storeDeliveries(test.api, endpoint, [
      { id: `dlv_${endpoint.id}`, state: 'delivered', nextAt: null },
    ])
    const { endpoints, deliveries } = test.api.services.webhooks
    const before = await endpoints.byId(endpoint.id)
    isDown = true
    const path = `/accounts/acc_1/webhook-endpoints/${endpoint.id}${action}`
    const response = await test.api.call(method, path, body === undefined ? {} : { body })
    isDown = false
    expect(response).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      json: { error: { type: 'api_error', code: 'service_unavailable' } },
    })
    expect(await endpoints.byId(endpoint.id)).toEqual(before)
    await test.api.refresh()
    const left = await deliveries.list({ endpointId: endpoint.id, limit: 10 })
    expect(left.map(({ id, state }) => [id, state])).toEqual([[stored?.id, 'delivered']])
  })

  it('POST of a key and of an endpoint, and a resend', async () => {
    const endpoint = await createEndpoint(test.api, 'acc_down')
    const [stored] = await storeDeliveries(test.api, endpoint, [
      { id: 'dlv_down', state: 'delivered', nextAt: null, event: { type: 'order.removed' } },
    ])
    const account = '/accounts/acc_down'
    isDown = true
    const responses = [
      await test.api.post(`${account}/keys`),
      await test.api.post(`${account}/webhook-endpoints`, { url: 'https://receiver.example/' }),
      await test.api.post(`${account}/deliveries/${stored?.id}/resend`),
    ]
    isDown = false
    expect(responses.map(({ status }) => status)).toEqual([503, 503, 503])
    await test.api.refresh()
    expect(await test.api.services.keys.list('acc_down')).toEqual([])
    expect(await test.api.services.webhooks.endpoints.list('acc_down')).toHaveLength(1)
    expect(await test.api.services.webhooks.deliveries.byId('dlv_down')).toMatchObject({
      state: 'delivered',
    })
  })
})
