import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { generatedFiles } from '../../../../scripts/openapi/generated.ts'
import type { Order } from '../../../../src/orders/order.ts'
import { orderStatusDescriptions } from '../../../../src/orders/schema/descriptions.ts'

interface Example<T> {
  summary: string
  value: T
}

const document = JSON.parse(generatedFiles()['openapi.json'])
const examplesOf = <T>(path: string): Record<string, Example<T>> =>
  document.paths[path].get.responses[200].content['application/json'].examples
const single = examplesOf<Order>('/v1/orders/{id}')
const lists = examplesOf<{ data: Order[] }>('/v1/orders')

const orders = [
  ...Object.values(single).map(({ value }) => value),
  ...Object.values(lists).flatMap(({ value }) => value.data),
]
const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)
ajv.addSchema(document, 'openapi')

describe('the examples of whole orders', () => {
  it('show a PIX, whole and masked, a declined card and the view of a co-producer, the same in both routes', () => {
    const [pix, card, masked, coproduced] = Object.values(single).map(({ value }) => value)
    expect(pix).toMatchObject({ status: 'PAID', payment: { method: 'PIX' } })
    expect(masked).toMatchObject({ id: pix?.id, customer: { document: null }, tracking: null })
    expect(card).toMatchObject({ status: 'UNPAID', payment: { method: 'CREDIT_CARD' } })
    expect(coproduced).toMatchObject({ role: 'COPRODUCER', tracking: null, navigator: null })
    expect(Object.values(lists).flatMap(({ value }) => value.data)).toEqual([
      pix,
      card,
      masked,
      coproduced,
    ])
  })

  it.each([
    ['Order', single],
    ['OrderList', lists],
  ])('match the schema %s', (name, examples) => {
    const validate = ajv.getSchema(`openapi#/components/schemas/${name}`)
    expect(Object.values(examples).filter(({ value }) => !validate?.(value))).toEqual([])
  })

  it('are last pages, so that a client of a mock server stops', () => {
    for (const { value } of Object.values(lists)) {
      expect(value).toMatchObject({ has_more: false, next_cursor: null })
    }
  })
})

describe.each(orders)('the example $id', (order) => {
  const { status, payment } = order

  it('is paid exactly when its status says so', () => {
    expect([order.paid_at !== null, payment.status === 'PAID']).toEqual([
      status === 'PAID',
      status === 'PAID',
    ])
  })

  it('is canceled exactly when its status says so', () => {
    expect(order.canceled_at !== null).toBe(status === 'CANCELED')
  })

  it('has a refund only where the payment was refunded', () => {
    const isRefunded = payment.status.endsWith('REFUNDED')
    expect(payment.refunded_at !== null).toBe(isRefunded)
    expect((payment.amount_refunded ?? 0) > 0).toBe(isRefunded)
  })

  it('has a decline code exactly where the payment was declined', () => {
    const isDeclined = payment.status === 'DECLINED'
    expect([payment.decline_code !== null, payment.decline_message !== null]).toEqual([
      isDeclined,
      isDeclined,
    ])
  })

  it('has a card exactly where a card paid', () => {
    expect(payment.card !== null).toBe(payment.method === 'CREDIT_CARD')
  })

  it('adds up', () => {
    const subtotal = sum(order.items.map(({ sub_total }) => sub_total))
    expect(order.amount_subtotal).toBe(subtotal)
    expect(order.amount_total).toBe(subtotal - payment.discount_amount + payment.interest_amount)
    expect([payment.amount, order.amount_in_brl]).toEqual([order.amount_total, order.amount_total])
    expect(payment.discount_amount + (order.promocode?.amount ?? 0)).toBe(0)
  })

  it('has its instants in order', () => {
    const { created_at, paid_at, updated_at } = order
    const instants = [created_at, paid_at, updated_at].flatMap((at) => at ?? []).map(Date.parse)
    expect(instants.toSorted((one, other) => one - other)).toEqual(instants)
  })
})

describe.each(['SHIPPED', 'DELIVERED'] as const)('the reserved status %s', (status) => {
  it('is described as reserved, and accepted', () => {
    expect(orderStatusDescriptions[status]).toMatch(/reservado, não usado hoje.*aceitá-lo/)
    expect(generatedFiles()['docs.md']).toMatch(/`SHIPPED` e `DELIVERED` são reservados/)
  })

  it('is in no example of an order', () => {
    expect(orders.map((order) => order.status)).not.toContain(status)
  })
})
