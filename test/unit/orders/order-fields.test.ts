import { expect, it } from 'vitest'
import { readChangelog } from '../../../src/openapi/openapi-files.ts'
import { ORDER_SCHEMA_VERSION, Order } from '../../../src/orders/order.ts'
import { fieldsOf } from '../../support/orders/source-fields.ts'

/**
 * The fields that each schema version of the order added, and the entry of `openapi/changes.json`
 * that announced them. A version that was released never changes.
 */
const versions: readonly { change: string; fields: readonly string[] }[] = [
  {
    change: 'v1',
    fields: [
      ...['object', 'id', 'role', 'status', 'currency'],
      ...['amount_total', 'amount_subtotal', 'amount_in_brl'],
      ...['created_at', 'paid_at', 'canceled_at', 'updated_at'],
      ...['customer', 'customer.name', 'customer.email', 'customer.phone'],
      ...['customer.document', 'customer.document_type'],
      ...['shipping_address', 'shipping_address.line1', 'shipping_address.line2'],
      ...['shipping_address.line3', 'shipping_address.neighborhood', 'shipping_address.city'],
      ...['shipping_address.state', 'shipping_address.country', 'shipping_address.postal_code'],
      'shipping_address.full_name',
      ...['payment', 'payment.method', 'payment.status', 'payment.installments'],
      ...['payment.amount', 'payment.interest_amount', 'payment.discount_amount', 'payment.fee'],
      ...['payment.amount_refunded', 'payment.refunded_at', 'payment.decline_code'],
      ...['payment.decline_message', 'payment.card', 'payment.card.brand', 'payment.card.last4'],
      ...['items', 'items.product_id', 'items.name', 'items.quantity', 'items.unit_price'],
      ...['items.sub_total', 'items.currency', 'items.offer_id', 'items.plan_id'],
      'items.order_bump_id',
      ...['offer', 'offer.id', 'offer.name'],
      ...['promocode', 'promocode.code', 'promocode.description', 'promocode.amount'],
      ...['utm', 'utm.utm_source', 'utm.utm_medium', 'utm.utm_campaign', 'utm.utm_term'],
      'utm.utm_content',
      'tracking',
      ...['navigator', 'navigator.user_agent', 'navigator.referer', 'navigator.device'],
      ...['navigator.browser', 'navigator.origin'],
      ...['metadata', 'metadata.order_parent_id', 'metadata.origin', 'metadata.currency_rate'],
    ],
  },
]

const known = versions.flatMap(({ fields }) => fields)
const current = fieldsOf(Order)

it('every field of the order belongs to a schema version', () => {
  const step = 'increment ORDER_SCHEMA_VERSION, and add a version with these fields to this test'
  expect(
    current.filter((field) => !known.includes(field)),
    step,
  ).toEqual([])
  expect(ORDER_SCHEMA_VERSION, 'a schema version without fields in this test').toBe(versions.length)
})

it('the order has the fields of every schema version', () => {
  const step = 'within /v1 fields are only added: restore these'
  expect(
    known.filter((field) => !current.includes(field)),
    step,
  ).toEqual([])
})

it('every schema version of the order is announced', () => {
  const ids = readChangelog().map(({ id }) => id)
  const unannounced = versions.map(({ change }) => change).filter((id) => !ids.includes(id))
  expect(unannounced, 'add entries with these ids to openapi/changes.json').toEqual([])
})
