import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { projectOrder } from '../../../src/indexing/projection/order-views.ts'
import { maskOrder } from '../../../src/orders/mask-order.ts'
import type { Order } from '../../../src/orders/order.ts'
import { sourceOrders } from '../../support/orders/arbitraries.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

const stored = (order: unknown) => Buffer.from(JSON.stringify(order))
const masked = (order: unknown): Order =>
  JSON.parse(Buffer.from(maskOrder('ord_1', stored(order))).toString())

function ownersView(source = sourceOrder()): Order {
  const [view] = projectOrder(source).views
  if (view === undefined) throw new Error('the order is not visible')
  return view.order
}

/** The customer of an order, masked. */
function maskedCustomer(customer: Partial<Order['customer']>) {
  const order = ownersView()
  return masked({ ...order, customer: { ...order.customer, ...customer } }).customer
}

describe('the mask of a customer', () => {
  it.each([
    ['Ana Souza', 'A. S.'],
    ['Ana de Souza', 'A. S.'],
    ['  élida   da  costa ', 'É. C.'],
    ['Madonna', 'M.'],
    ['J o ã o', 'J. O.'],
    ['李小龙', '李.'],
    ['(Ana) O’Neil', 'A. O.'],
    ['12345678909', ''],
    ['', ''],
  ])('shows the name %j as %j', (name, expected) => {
    expect(maskedCustomer({ name }).name).toBe(expected)
  })

  it.each([
    ['maria@exemplo.com.br', 'm•••@exemplo.com.br'],
    ['m@exemplo.com.br', 'm•••@exemplo.com.br'],
    ['maria@silva@exemplo.com.br', 'm•••@exemplo.com.br'],
    ['maria@ação.com.br', 'm•••@ação.com.br'],
    ['maria', '•••'],
    ['@maria.silva', '•••'],
    ['maria@silva', '•••'],
    ['maria@exemplo.com.br, 123.456.789-09', '•••'],
    ['', '•••'],
  ])('shows the e-mail %j as %j', (email, expected) => {
    expect(maskedCustomer({ email }).email).toBe(expected)
  })

  it.each([
    ['+55 (11) 99999-0042', '•••42'],
    ['33334444', '•••44'],
    ['1234567', '•••'],
    ['não tem', '•••'],
    [null, null],
  ])('shows the telephone %j as %j', (phone, expected) => {
    expect(maskedCustomer({ phone }).phone).toBe(expected)
  })

  it('has no document, but its type', () => {
    const customer = maskedCustomer({ document: '12ABC34501DE35', document_type: 'CNPJ' })
    expect(customer).toMatchObject({ document: null, document_type: 'CNPJ' })
  })
})

it('leaves out a field that no table names, at any depth', () => {
  const withPayer = (_name: string, value: unknown) =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : { ...value, payer: 'Rosa Souza' }
  const property = fc.property(sourceOrders, (source) => {
    for (const { order } of projectOrder(source).views) {
      const json = maskOrder('ord_1', Buffer.from(JSON.stringify(order, withPayer)))
      expect(Buffer.from(json)).toEqual(Buffer.from(maskOrder('ord_1', stored(order))))
    }
  })
  fc.assert(property)
})

it('every field but the personal ones stays as it is, and keeps its place', () => {
  const property = fc.property(sourceOrders, (source) => {
    for (const { order } of projectOrder(source).views) {
      const { customer, shipping_address: address, ...rest } = masked(order)
      const {
        customer: { document_type },
        shipping_address: stay,
        ...others
      } = order
      expect(rest).toEqual({ ...others, tracking: null, navigator: null })
      expect(customer.document_type).toBe(document_type)
      expect(address).toEqual(
        stay && {
          line1: '',
          line2: '',
          line3: null,
          neighborhood: '',
          city: stay.city,
          state: stay.state,
          country: stay.country,
          postal_code: '',
          full_name: null,
        },
      )
      expect(Object.keys(masked(order))).toEqual(Object.keys(order))
    }
  })
  fc.assert(property)
})

it.each([
  ['no JSON', Buffer.from('{"customer":{"name":"Rita Lima"')],
  ['an order without a customer', stored({ ...ownersView(), customer: undefined })],
  ['a name that is no text', stored({ ...ownersView(), customer: { name: ['Rita Lima'] } })],
])('%s is an error that quotes nothing of it', (_name, json) => {
  const message = 'the stored order ord_1 is damaged and cannot be masked: run "index check"'
  expect(() => maskOrder('ord_1', json)).toThrow(new Error(message))
  expect(() => maskOrder('ord_1', json)).not.toThrow(
    expect.objectContaining({ cause: expect.anything() }),
  )
})
