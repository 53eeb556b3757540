import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../../src/lib/durations.ts'
import { useManagementApi } from '../../support/management/management-api.ts'
import { createEndpoint, storeDeliveries } from '../../support/management/webhook-endpoints.ts'
import { attempt } from '../../support/webhooks/delivery.ts'

const test = useManagementApi()

const missing = { status: 404, json: { error: { code: 'resource_missing' } } }
const listOf = ({ id, account_id }: { id: string; account_id: string }, query = '') =>
  `/accounts/${account_id}/webhook-endpoints/${id}/deliveries${query}`

describe('deliveries over HTTP', () => {
  it('are listed newest first, with their attempts', async () => {
    const endpoint = await createEndpoint(test.api)
    const [old, recent] = await storeDeliveries(test.api, endpoint, [
      { id: 'dlv_old', state: 'delivered', nextAt: null, attempts: [attempt()] },
      { id: 'dlv_recent', event: { sequence: 2, recordedAt: 20_000 } },
    ])
    await test.api.refresh()
    const { status, json } = await test.api.get(listOf(endpoint))
    expect(status).toBe(200)
    expect(json).toMatchObject({ object: 'list', has_more: false, next_cursor: null })
    expect(json.data.map(({ id }: { id: string }) => id)).toEqual([recent?.id, old?.id])
    expect(json.data[1]).toEqual({
      object: 'webhook_delivery',
      id: old?.id,
      event_id: old?.event.id,
      type: 'order.paid',
      order_id: 'ord_1',
      sequence: 1,
      state: 'delivered',
      next_at: null,
      attempts: [
        {
          at: new Date(20_000).toISOString(),
          status: 500,
          error: 'the receiver returned 500',
          duration_ms: 12.5,
        },
      ],
    })
  })

  it('have pages that contain each once, also those of one bulk', async () => {
    const endpoint = await createEndpoint(test.api)
    const orders = Array.from({ length: 7 }, (_, at) => `ord_${at}`)
    await storeDeliveries(
      test.api,
      endpoint,
      orders.map((orderId) => ({ id: `dlv_page_${orderId}`, event: { orderId } })),
    )
    await test.api.refresh()
    const pages = await test.api.walk(listOf(endpoint), 3)
    expect(pages.map((page) => page.length)).toEqual([3, 3, 1])
    const ids = pages.flat().map(({ id }) => id)
    expect(ids.toSorted()).toEqual(orders.map((orderId) => `dlv_page_${orderId}`))
  })

  it('are filtered by state; failed includes those that expired', async () => {
    const endpoint = await createEndpoint(test.api)
    const ended = { nextAt: null } as const
    await storeDeliveries(test.api, endpoint, [
      { id: 'dlv_s1', ...ended, state: 'failed', event: { sequence: 1 } },
      { id: 'dlv_s2', ...ended, state: 'expired', event: { sequence: 2 } },
      { id: 'dlv_s3', ...ended, state: 'delivered', event: { sequence: 3 } },
      { id: 'dlv_s4', event: { sequence: 4 } },
    ])
    await test.api.refresh()
    const idsOf = async (state: string) =>
      (await test.api.walk(listOf(endpoint, `?state=${state}`), 1)).flat().map(({ id }) => id)
    expect(await idsOf('failed')).toEqual(['dlv_s2', 'dlv_s1'])
    expect(await idsOf('expired')).toEqual(['dlv_s2'])
    expect(await idsOf('pending')).toEqual(['dlv_s4'])
    expect(await test.api.get(listOf(endpoint, '?state=broken'))).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request', param: 'state' } },
    })
  })

  it.each(['?limit=0', '?limit=101', '?limit=x', '?limit=007', '?limit=1&limit=2'])(
    'refuse the limit of %s by name',
    async (query) => {
      const endpoint = await createEndpoint(test.api)
      expect(await test.api.get(listOf(endpoint, query))).toMatchObject({
        status: 400,
        json: { error: { code: 'invalid_request', param: 'limit' } },
      })
    },
  )

  it('refuse a cursor of another list by name', async () => {
    const endpoint = await createEndpoint(test.api)
    await storeDeliveries(test.api, endpoint, [
      { id: 'dlv_c1', event: { sequence: 1 } },
      { id: 'dlv_c2', event: { sequence: 2 } },
    ])
    await test.api.refresh()
    const { json } = await test.api.get(listOf(endpoint, '?limit=1'))
    const cursor = json.next_cursor
    const other = await createEndpoint(test.api)
    const refused = { status: 400, json: { error: { code: 'invalid_request', param: 'cursor' } } }
    for (const path of [
      listOf(other, `?cursor=${cursor}`),
      listOf(endpoint, `?state=pending&cursor=${cursor}`),
      listOf(endpoint, `?cursor=${cursor}x`),
      '/accounts/acc_1/keys?cursor=x',
    ]) {
      expect(await test.api.get(path)).toMatchObject(refused)
    }
  })

  it('are found and sent again one by one', async () => {
    const endpoint = await createEndpoint(test.api)
    const sent = await test.api.post(`/accounts/acc_1/webhook-endpoints/${endpoint.id}/test`)
    expect(sent).toMatchObject({
      status: 200,
      json: { object: 'webhook_delivery', type: 'webhook.test', state: 'pending', order_id: null },
    })
    const path = `/accounts/acc_1/deliveries/${sent.json.id}`
    expect((await test.api.get(path)).json).toEqual(sent.json)
    expect(await test.api.post(`${path}/resend`)).toMatchObject({
      status: 200,
      json: { id: sent.json.id, state: 'pending' },
    })
  })

  it('of another account do not exist', async () => {
    const endpoint = await createEndpoint(test.api, 'acc_2')
    const [stored] = await storeDeliveries(test.api, endpoint, [{ id: 'dlv_other' }])
    const path = `/accounts/acc_1/deliveries/${stored?.id}`
    expect(await test.api.get(path)).toMatchObject(missing)
    expect(await test.api.post(`${path}/resend`)).toMatchObject(missing)
    expect(await test.api.get(listOf({ ...endpoint, account_id: 'acc_1' }))).toMatchObject(missing)
  })

  it('are not sent again while the endpoint is disabled', async () => {
    const endpoint = await createEndpoint(test.api)
    const path = `/accounts/acc_1/webhook-endpoints/${endpoint.id}`
    const { json: sent } = await test.api.post(`${path}/test`)
    await test.api.post(`${path}/disable`)
    const conflict = {
      status: 409,
      json: { error: { type: 'invalid_request_error', code: 'conflict' } },
    }
    expect(await test.api.post(`/accounts/acc_1/deliveries/${sent.id}/resend`)).toMatchObject(
      conflict,
    )
    expect(await test.api.post(`${path}/test`)).toMatchObject(conflict)
  })

  it('that an attempt changes meanwhile can be sent again later', async () => {
    const endpoint = await createEndpoint(test.api)
    const sent = await test.api.post(`/accounts/acc_1/webhook-endpoints/${endpoint.id}/test`)
    const path = `/accounts/acc_1/deliveries/${sent.json.id}`
    const { deliveries } = test.api.services.webhooks
    const { save } = deliveries
    deliveries.save = async (changed) => {
      await save(changed) // By the dispatcher.
      return save(changed)
    }
    const refused = await test.api.post(`${path}/resend`)
    deliveries.save = save
    expect(refused).toMatchObject({
      status: 409,
      headers: { 'retry-after': '1' },
      json: { error: { code: 'conflict', message: expect.stringContaining('sendo enviada') } },
    })
    expect(await test.api.post(`${path}/resend`)).toMatchObject({ status: 200 })
  })

  it('that ended since an instant are replayed', async () => {
    const endpoint = await createEndpoint(test.api)
    const recordedAt = test.api.clock.nowMs - 60_000
    await storeDeliveries(test.api, endpoint, [
      { id: 'dlv_r1', state: 'delivered', nextAt: null, event: { recordedAt, sequence: 1 } },
      { id: 'dlv_r2', state: 'failed', nextAt: null, event: { recordedAt, sequence: 2 } },
    ])
    await test.api.refresh()
    const path = `/accounts/acc_1/webhook-endpoints/${endpoint.id}/replay`
    const since = new Date(recordedAt).toISOString()
    const failed = await test.api.post(path, { since, failed: true })
    expect(failed).toMatchObject({ status: 200, json: { replayed: 1 } })
    const others = await test.api.post(path, { since })
    expect(others).toMatchObject({ status: 200, json: { replayed: 1 } })
  })

  it.each([
    ['in the future', 1],
    ['before the retention', -31 * DAY_MS],
  ])('are not replayed since an instant %s', async (_where, sinceNowMs) => {
    const endpoint = await createEndpoint(test.api)
    const path = `/accounts/acc_1/webhook-endpoints/${endpoint.id}/replay`
    const since = new Date(test.api.clock.nowMs + sinceNowMs).toISOString()
    const { status, json } = await test.api.post(path, { since })
    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', 'since'])
    expect(json.error.message).toContain('um instante que já passou, dentro do prazo de retenção')
  })
})
