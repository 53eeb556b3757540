import { describe, expect, it } from 'vitest'
import { DEMO_ACCOUNT } from '../../../src/demo/accounts.ts'
import { userAgents } from '../../../src/demo/checkout/attribution.ts'
import type { SourceOrder } from '../../../src/indexing/projection/source-order.ts'
import {
  type OrderStatus,
  orderStatuses,
  paymentStatuses,
  singlePaymentMethods,
} from '../../../src/orders/order-values.ts'
import { unusedFields } from '../../support/orders/source-fields.ts'
import {
  agentOf,
  documentOf,
  everyStretchHas,
  isRenewal,
  isSplit,
  lastPayment,
  lastStatusIs,
  orders,
} from './sample.ts'

const RESERVED: readonly OrderStatus[] = ['SHIPPED', 'DELIVERED']

describe('any 2,000 consecutive demo orders', () => {
  it.each(RESERVED)('no demo order has the reserved status %s', (status) => {
    expect(orders.some((order) => order.status === status)).toBe(false)
  })

  it.each(orderStatuses.filter((status) => !RESERVED.includes(status)))(
    'any 2,000 consecutive demo orders include the order status %s',
    (status) => {
      expect(everyStretchHas((order) => order.status === status)).toBe(true)
    },
  )

  it.each(paymentStatuses)(
    'any 2,000 consecutive demo orders include a last payment with the status %s',
    (status) => {
      expect(everyStretchHas((order) => lastStatusIs(order, status))).toBe(true)
    },
  )

  it.each(singlePaymentMethods)(
    'any 2,000 consecutive demo orders include a last payment by %s',
    (method) => {
      expect(everyStretchHas((order) => lastPayment(order).method === method)).toBe(true)
    },
  )

  it.each(userAgents)(
    'any 2,000 consecutive demo orders include a buyer with the browser %s',
    (agent) => {
      expect(everyStretchHas((order) => agentOf(order) === agent)).toBe(true)
    },
  )

  it.each<[string, (order: SourceOrder) => unknown]>([
    ['a split payment that is paid', (o) => isSplit(o) && o.status === 'PAID'],
    ['a split payment awaiting a part', (o) => isSplit(o) && o.status === 'AWAITING_PAYMENT'],
    [
      'a canceled split payment, its paid parts refunded',
      (o) => isSplit(o) && o.status === 'CANCELED' && o.payments[0]?.status === 'REFUNDED',
    ],
    [
      'split parts of the same millisecond',
      (o) => isSplit(o) && new Set(o.payments.map((part) => part.created_at)).size === 1,
    ],
    ['a renewal that is paid', (o) => isRenewal(o) && lastStatusIs(o, 'PAID')],
    ['a renewal that is declined', (o) => isRenewal(o) && lastStatusIs(o, 'DECLINED')],
    ['a renewal that was never sent', (o) => isRenewal(o) && lastStatusIs(o, 'FAILED')],
    ['a subscription canceled unpaid', (o) => isRenewal(o) && o.canceled_at],
    ['a trial that expired', (o) => o.status === 'UNPAID' && lastStatusIs(o, 'TRIAL')],
    [
      'smart installments',
      (o) => o.payments.length > 1 && o.payments[0]?.amount !== o.amount_total,
    ],
    ['an invisible order', (o) => o.payments.every((p) => p.status === 'FAILED')],
    ['a boleto with a coupon', (o) => lastPayment(o).method === 'BOLETO' && o.promocode],
    ['a card with interest', (o) => lastPayment(o).interest_amount > 0],
    ['a decline by anti-fraud', (o) => lastPayment(o).decline_message?.includes('segurança')],
    ['a card of an unknown brand', (o) => lastPayment(o).card?.brand === 'BANESCARD'],
    ['a card without a brand', (o) => lastPayment(o).card?.brand === null],
    ['an old record without installments', (o) => lastPayment(o).installments === null],
    ['an order without an initial fill', (o) => o.changed_at === null],
    ['one co-producer', (o) => o.coproducer_account_ids?.length === 1],
    ['two co-producers', (o) => o.coproducer_account_ids?.length === 2],
    ['three co-producers', (o) => o.coproducer_account_ids?.length === 3],
    ['the demo account as co-producer', (o) => o.coproducer_account_ids?.includes(DEMO_ACCOUNT)],
    ['an order bump', (o) => o.items.some((item) => item.order_bump_id)],
    ['several units of an item', (o) => o.items.some((item) => item.quantity > 1)],
    ['an address with a complement', (o) => o.shipping_address?.line3],
    ['an address without a complement', (o) => o.shipping_address?.line3 === null],
    ['an order in dollars', (o) => o.currency === 'USD' && o.metadata?.currency_rate],
    ['an upsell', (o) => o.metadata?.order_parent_id],
    ['an origin of the checkout', (o) => o.metadata?.origin],
    ['no metadata', (o) => Object.keys(o.metadata ?? {}).length === 0],
    ['all five utm parameters', (o) => Object.keys(o.utm ?? {}).length === 5],
    ['some utm parameters', (o) => Object.keys(o.utm ?? {}).length === 1],
    ['no utm parameters', (o) => o.utm === null],
    ['tracking parameters', (o) => Object.keys(o.tracking ?? {}).length > 1],
    ['no tracking parameters', (o) => o.tracking === null],
    ['no navigator', (o) => o.navigator === null],
    ['a referer', (o) => o.navigator?.referer && o.navigator.user_agent],
    ['no referer', (o) => o.navigator?.user_agent && !o.navigator.referer],
    ['a formatted CPF', (o) => /^\d{3}\.\d{3}\.\d{3}-\d{2}$/.test(documentOf(o))],
    ['a bare CPF', (o) => /^\d{11}$/.test(documentOf(o))],
    ['a formatted CNPJ', (o) => /^\d{2}\.\d{3}\.\d{3}\/0001-\d{2}$/.test(documentOf(o))],
    ['a bare CNPJ', (o) => /^\d{14}$/.test(documentOf(o))],
    ['a CNPJ with letters', (o) => /^\d{2}[A-Z]{3}\d{9}$/.test(documentOf(o))],
    ['an invalid document', (o) => documentOf(o) === 'isento'],
    ['no document', (o) => o.customer.document === null],
    ['no phone', (o) => !('phone' in o.customer)],
  ])('any 2,000 consecutive demo orders have %s', (_, is) => {
    expect(everyStretchHas(is)).toBe(true)
  })
})

it('the demo orders have every field of a source order', () => {
  // Without it, an item is in BRL, which all items are today.
  const unused = unusedFields(orders, ['items.currency'])
  expect(unused, 'generate these fields in src/demo').toEqual([])
})
