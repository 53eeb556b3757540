import { describe, expect, it } from 'vitest'
import { MAX_EVENT_BYTES, renderEventBody } from '../../../../src/webhooks/deliveries/event-body.ts'
import { paidEvent, testEvent } from '../../../support/webhooks/delivery.ts'

const envelope =
  '{"id":"evt_1","type":"order.paid","timestamp":"1970-01-01T00:00:10.000Z","account_id":"acc_1","order_id":"ord_1","sequence":3,"change":{"status":["AWAITING_PAYMENT","PAID"]}}'
const event = paidEvent({
  id: 'evt_1',
  sequence: 3,
  change: { status: ['AWAITING_PAYMENT', 'PAID'] },
})

describe('the body of a webhook', () => {
  it('the envelope has the event, and data the unchanged bytes of the order', () => {
    const order = Buffer.from('{"id":"ord_1" , "name":"Jo\\u00e3o é"}')
    expect(renderEventBody(event, order).toString()).toBe(
      `${envelope.slice(0, -1)},"data":${order.toString()}}`,
    )
  })

  it('an event without an order has no data', () => {
    expect(renderEventBody(event, null).toString()).toBe(envelope)
  })

  it('an event of a sandbox names the live account, and test', () => {
    const body = renderEventBody({ ...event, accountId: 'acc_1.test' }, null).toString()
    const expected = envelope.replace('"account_id":"acc_1"', '"account_id":"acc_1","test":true')
    expect(body).toBe(expected)
  })

  it('a test event has neither an order nor a sequence', () => {
    const body = JSON.parse(renderEventBody(testEvent(), null).toString())
    expect(body).toMatchObject({ type: 'webhook.test', order_id: null, sequence: null, change: {} })
    expect(body).not.toHaveProperty('data')
  })

  it('a body of exactly the maximum size keeps its data', () => {
    const overhead = renderEventBody(event, Buffer.from('""')).length
    const order = Buffer.from(JSON.stringify('x'.repeat(MAX_EVENT_BYTES - overhead)))
    expect(renderEventBody(event, order)).toHaveLength(MAX_EVENT_BYTES)
  })

  it('a larger body is sent without data', () => {
    const overhead = renderEventBody(event, Buffer.from('""')).length
    const order = Buffer.from(JSON.stringify('x'.repeat(MAX_EVENT_BYTES - overhead + 1)))
    expect(renderEventBody(event, order).toString()).toBe(envelope)
  })
})
