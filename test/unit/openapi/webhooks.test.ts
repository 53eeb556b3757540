import type { Static } from '@sinclair/typebox'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { generatedFiles } from '../../../scripts/openapi/generated.ts'
import type { WebhookEvent as ClientEvent } from '../../../src/client/schema.ts'
import type { OrderChange, WebhookEvent } from '../../../src/webhooks/events/event-schema.ts'
import { eventTypes, TEST_EVENT } from '../../../src/webhooks/events/event-types.ts'
import type { StateChange } from '../../../src/webhooks/events/order-state.ts'

interface Event {
  id: string
  type: string
  order_id: string | null
  sequence: number | null
  change: Record<string, [before: unknown, after: unknown]>
  data?: {
    id: string
    status: string
    payment: { status: string; amount_refunded: number | null; decline_code: string | null }
  }
}
interface Operation {
  operationId: string
  security: object[]
  parameters: { name: string; required: boolean; schema: object; example: string }[]
  requestBody: {
    content: { 'application/json': { examples: Record<string, { value: Event }> } }
  }
  responses: Record<string, { headers?: object }>
}

const document = JSON.parse(generatedFiles()['openapi.json'])
const operations = Object.entries<{ post: Operation }>(document.webhooks).map(
  ([type, { post }]) => ({ type, ...post }),
)
const examples = operations.flatMap(({ type, requestBody }) =>
  Object.entries(requestBody.content['application/json'].examples).map(([name, { value }]) => ({
    name,
    type,
    event: value,
  })),
)

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)
ajv.addSchema(document, 'openapi')

describe('the webhooks of the description', () => {
  it('are all event types and the test, in the order of the documentation', () => {
    expect(operations.map(({ type }) => type)).toEqual([...eventTypes, TEST_EVENT])
  })

  it('have an operation id each, beside those of the routes', () => {
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set([...ids, 'orders_list', 'orders_get']).size).toBe(operations.length + 2)
  })

  it('send no key, but an id, a timestamp and a signature', () => {
    for (const { security, parameters } of operations) {
      expect(security).toEqual([])
      const required = parameters.filter((one) => one.required).map(({ name }) => name)
      expect(required).toEqual(
        expect.arrayContaining(['webhook-id', 'webhook-timestamp', 'webhook-signature']),
      )
    }
  })

  it('list the responses that the dispatcher understands', () => {
    for (const { responses } of operations) {
      expect(new Set(Object.keys(responses))).toEqual(new Set(['2XX', '410', '429', 'default']))
      expect(responses['429']?.headers).toHaveProperty('Retry-After')
    }
  })

  it('have header examples that match their schemas', () => {
    const headers = operations.flatMap(({ parameters }) => parameters)
    expect(headers.filter(({ schema, example }) => !ajv.validate(schema, example))).toEqual([])
  })
})

describe('the examples of webhooks', () => {
  it.each(examples)('the example $name of $type matches its schema', ({ type, event }) => {
    const pointer = `openapi#/webhooks/${type}/post/requestBody/content/application~1json/schema`
    const validate = ajv.getSchema(pointer)
    expect([validate?.(event), validate?.errors]).toEqual([true, null])
    expect(ajv.getSchema('openapi#/components/schemas/WebhookEvent')?.(event)).toBe(true)
    expect(event.type).toBe(type)
  })

  it.each(examples.filter(({ event }) => event.data !== undefined))(
    'the example $name of $type has a change that ends in its order',
    ({ event: { order_id, change, data } }) => {
      expect(data?.id).toBe(order_id)
      const after = Object.fromEntries(Object.entries(change).map(([key, [, last]]) => [key, last]))
      const { last_payment_id: _payment, ...shown } = after
      expect({
        status: data?.status,
        payment_status: data?.payment.status,
        amount_refunded: data?.payment.amount_refunded,
        decline_code: data?.payment.decline_code,
      }).toMatchObject(shown)
    },
  )

  const example = (type: string, name = 'evento') =>
    examples.find((one) => one.type === type && one.name === name)?.event

  it('show a paid PIX order, with the order and without', () => {
    const { data, ...rest } = example('order.paid') ?? {}
    expect(rest).toHaveProperty('change', {
      status: ['AWAITING_PAYMENT', 'PAID'],
      payment_status: ['PENDING', 'PAID'],
    })
    expect(data).toMatchObject({ payment: { method: 'PIX', status: 'PAID' } })
    expect(example('order.paid', 'thin')).toEqual(rest)
  })

  it('show a declined card, with its code in the change and in the order', () => {
    const { change, data } = example('order.payment_declined') ?? {}
    expect(change?.['decline_code']).toEqual([null, data?.payment.decline_code])
    expect(data).toMatchObject({ status: 'UNPAID', payment: { status: 'DECLINED' } })
  })

  it.each(['order.removed', TEST_EVENT])('show no order in %s', (type) => {
    expect(example(type)).toMatchObject({ change: {} })
    expect(example(type)).not.toHaveProperty('data')
  })

  it('number the events of an order without a repetition', () => {
    const full = examples.filter(({ name, type }) => name === 'evento' && type !== TEST_EVENT)
    const keys = full.map(({ event }) => `${event.order_id} ${event.sequence}`)
    expect(new Set(keys).size).toBe(keys.length)
  })
})

it('the schema of a change accepts what events announce', () => {
  expectTypeOf<StateChange>().toExtend<Static<typeof OrderChange>>()
})

it('the events of the client are those of the service', () => {
  expectTypeOf<ClientEvent>().toExtend<WebhookEvent>()
})
