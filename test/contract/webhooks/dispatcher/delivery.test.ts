import { beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import type { ViewKey } from '../../../../src/orders/order-store.ts'
import { createSigner } from '../../../../src/webhooks/sending/signature.ts'
import { deliveryOf, testEvent } from '../../../support/webhooks/delivery.ts'
import {
  type Dispatching,
  eventually,
  openDispatching,
  quietPeriod,
} from '../../../support/webhooks/dispatching.ts'
import { useWebhookStores } from '../webhook-stores-under-test.ts'

describe.each(useWebhookStores())('the dispatcher on %s', (_name, open) => {
  let dispatching: Dispatching
  beforeEach(async () => {
    dispatching = await openDispatching(open)
  })

  it('it sends an event once, and stores the attempt', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce('ord_1')
    const [delivery] = await dispatching.delivers(id, 1)
    const [webhook] = dispatching.receiver.received
    expect(delivery).toMatchObject({
      nextAt: null,
      attempts: [{ status: 200, error: null, bodyBytes: webhook?.bytes.length }],
    })
    await quietPeriod()
    expect(dispatching.receiver.received).toHaveLength(1)
  })

  it('the request has the signed headers and the exact bytes of the order', async () => {
    const order = '{"id":"ord_1",  "name":"Jo\\u00e3o"}'
    dispatching.views.set('ord_1', Buffer.from(order))
    const endpoint = await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce('ord_1')
    await dispatching.delivers(endpoint.id, 1)
    const [webhook] = dispatching.receiver.received
    if (webhook === undefined) throw new Error('expected a webhook')
    expect(webhook.bytes.toString()).toMatch(new RegExp(`,"data":${RegExp.escape(order)}}$`))
    expect(webhook.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'public-orders-api-webhooks/1.2.3',
      'webhook-id': webhook.body.id,
    })
    const sentAtMs = Number(webhook.headers['webhook-timestamp']) * 1_000
    const signer = createSigner([{ kid: 'k1', secret: Buffer.alloc(32, 7) }])
    const signed = signer(endpoint, { id: webhook.body.id, sentAtMs, body: webhook.bytes })
    expect(webhook.headers).toMatchObject(signed)
  })

  it('a thin endpoint receives the event without the order', async () => {
    const { id } = await dispatching.subscribe({ payload: 'thin' })
    dispatching.start()
    await dispatching.announce('ord_1')
    await dispatching.delivers(id, 1)
    expect(dispatching.receiver.received[0]?.body).not.toHaveProperty('data')
  })

  it('each endpoint receives the types that it selects, under one webhook-id', async () => {
    const all = await dispatching.subscribe()
    const refunds = await dispatching.subscribe({
      events: ['order.refunded'],
      url: dispatching.receiver.url('/refunds'),
    })
    dispatching.start()
    await dispatching.announce('ord_1', ['ord_1', 'order.refunded'])
    await dispatching.delivers(all.id, 2)
    await dispatching.delivers(refunds.id, 1)
    const [refund, ...others] = dispatching.receiver.received.filter(
      ({ path }) => path === '/refunds',
    )
    expect(others).toEqual([])
    const ids = dispatching.receiver.received
      .filter(({ body }) => body.type === 'order.refunded')
      .map(({ headers }) => headers['webhook-id'])
    expect(ids).toEqual([refund?.body.id, refund?.body.id])
  })

  it('an event of an order that the account no longer has is canceled', async () => {
    dispatching.views.set('ord_1', null)
    const { id } = await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce('ord_1', 'ord_2')
    await dispatching.delivers(id, 1)
    await eventually(async () =>
      expect(await dispatching.deliveries(id)).toMatchObject([
        { state: 'canceled', attempts: [] },
        { state: 'delivered' },
      ]),
    )
    expect(dispatching.receivedOrders()).toEqual(['ord_2 1'])
  })

  it('order.removed is sent without a view, and ends what was pending before it', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.receiver.reply = ({ body }) => ({ status: body.sequence === 1 ? 500 : 200 })
    dispatching.start()
    await dispatching.announce('ord_1')
    await eventually(() => expect(dispatching.attempts).toHaveLength(1))
    dispatching.views.set('ord_1', null)
    await dispatching.announce(['ord_1', 'order.removed'])
    await dispatching.delivers(id, 1)
    expect(await dispatching.deliveries(id)).toMatchObject([
      { state: 'canceled', event: { change: {} } },
      { state: 'delivered', event: { type: 'order.removed' } },
    ])
    expect(dispatching.receivedOrders()).toEqual(['ord_1 1', 'ord_1 2'])
    expect(dispatching.receiver.received[1]?.body).not.toHaveProperty('data')
  })

  it('an event is not sent once its order was removed, though the order is back when its view is read', async () => {
    const { id } = await dispatching.subscribe()
    const isRead = Promise.withResolvers<void>()
    const isBack = Promise.withResolvers<void>()
    const getMany = async (keys: readonly ViewKey[]) => {
      isRead.resolve()
      await isBack.promise
      return keys.map(() => Buffer.from('{"id":"ord_1"}'))
    }
    dispatching.start({ orders: { getMany } })
    await dispatching.announce('ord_1')
    await isRead.promise
    await dispatching.announce(['ord_1', 'order.removed'], ['ord_1', 'order.created'])
    await eventually(async () => expect(await dispatching.deliveries(id)).toHaveLength(3))
    isBack.resolve()
    await dispatching.delivers(id, 2)
    expect(dispatching.receivedOrders()).toEqual(['ord_1 2', 'ord_1 3'])
  })

  it('a test event that a command created is delivered, and concerns no order', async () => {
    const { id } = await dispatching.subscribe({ lastSuccessAt: null })
    dispatching.start()
    await eventually(() => expect(dispatching.log).toContain('delivers'))
    const event = { ...testEvent(), recordedAt: dispatching.time.clock() }
    const nextAt = dispatching.time.clock()
    await dispatching.stores.deliveries.create([deliveryOf(event, { endpointId: id, nextAt })])
    await dispatching.change(id, {})
    await dispatching.delivers(id, 1)
    expect(dispatching.receiver.received[0]?.body).toMatchObject({
      type: 'webhook.test',
      order_id: null,
      sequence: null,
    })
  })

  it('events recorded before the endpoint was created are not sent', async () => {
    const { id } = await dispatching.subscribe({ createdAt: dispatching.time.clock() + 60_000 })
    dispatching.start()
    await dispatching.announce('ord_1')
    dispatching.time.advance(60_001)
    await dispatching.announce('ord_2')
    await dispatching.delivers(id, 1)
    expect(dispatching.receivedOrders()).toEqual(['ord_2 1'])
  })

  it('an endpoint without its signing secret has failed attempts, and nothing is sent', async () => {
    const { id } = await dispatching.subscribe({ secret: { kid: 'lost', generation: 1 } })
    dispatching.start()
    await dispatching.announce('ord_1')
    await eventually(async () =>
      expect(await dispatching.deliveries(id)).toMatchObject([
        {
          state: 'pending',
          attempts: [{ status: null, error: expect.stringContaining('secret') }],
        },
      ]),
    )
    expect(dispatching.receiver.received).toEqual([])
  })

  it('a damaged order has failed attempts, and the events of other orders are sent', async () => {
    const { id } = await dispatching.subscribe()
    const thin = await dispatching.subscribe({ payload: 'thin' })
    const damaged = new Unavailable('the document acc_1:ord_1 does not match its checksum')
    const view = Buffer.from('{"id":"ord_2"}')
    const getMany = async (keys: readonly ViewKey[]) =>
      keys.map(({ orderId }) => (orderId === 'ord_1' ? damaged : view))
    dispatching.start({ orders: { getMany } })
    await dispatching.announce('ord_1', 'ord_2')
    await dispatching.delivers(id, 1)
    await dispatching.delivers(thin.id, 2)
    const [first] = await eventually(async () => {
      const found = await dispatching.deliveries(id)
      expect(found[0]?.attempts).toHaveLength(1)
      return found
    })
    expect(first).toMatchObject({
      state: 'pending',
      attempts: [{ status: null, error: 'not sent: the stored order is damaged' }],
    })
    expect(dispatching.log).not.toContainEqual(expect.stringContaining('outage'))
  })

  it('a backlog that exceeds the buffers is sent completely, each order in its sequence', async () => {
    const { id } = await dispatching.subscribe()
    const events = Array.from({ length: 600 }, (_, index) => `ord_${index % 40}`)
    await dispatching.announce(...events)
    dispatching.start()
    await eventually(() => expect(dispatching.attempts).toHaveLength(events.length))
    await dispatching.delivers(id, events.length)
    const received = dispatching.receivedOrders()
    expect(new Set(received).size).toBe(received.length)
    for (const orderId of new Set(events)) {
      const ofOrder = received.filter((name) => name.startsWith(`${orderId} `))
      expect(ofOrder).toEqual(ofOrder.map((_name, index) => `${orderId} ${index + 1}`))
    }
  })
})
