import { Value } from '@sinclair/typebox/value'
import { describe, expect, it } from 'vitest'
import { DEMO_ACCOUNT, DEMO_ACCOUNTS, demoOrders } from '../../../src/demo/demo-orders.ts'
import { ROUND_LENGTH, scenarioAt, scenarios } from '../../../src/demo/scenarios.ts'
import { userAgents } from '../../../src/demo/user-agents.ts'
import { SourceOrder, type SourcePayment } from '../../../src/indexing/source-order.ts'
import {
  orderStatuses,
  paymentStatuses,
  singlePaymentMethods,
} from '../../../src/orders/statuses.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const until = Date.parse('2026-03-01T12:00:00.000Z')

const orders = [...demoOrders({ count: 3000, seed: 1, until })]
const stretches = [orders.slice(0, 2000), orders.slice(500, 2500), orders.slice(1000)]
const everyStretchHas = (is: (order: SourceOrder) => unknown) =>
  stretches.every((stretch) => stretch.some(is))

const lastPayment = ({ payments }: SourceOrder) =>
  payments.reduce((last, payment) => (payment.created_at >= last.created_at ? payment : last))
const lastStatusIs = (order: SourceOrder, status: SourcePayment['status']) =>
  lastPayment(order).status === status
const isSplit = (order: SourceOrder) => lastPayment(order).split_group != null
const isRenewal = ({ items, payments }: SourceOrder) =>
  payments.length > 1 && items.some((item) => item.plan_id)
const instantsOf = (order: SourceOrder) =>
  [
    order.created_at,
    order.paid_at,
    order.canceled_at,
    order.changed_at,
    ...order.payments.flatMap((payment) => [payment.created_at, payment.refunded_at]),
  ].filter((text) => typeof text === 'string')
const agentOf = (order: SourceOrder) => order.navigator?.user_agent ?? ''
const documentOf = (order: SourceOrder) => order.customer.document ?? ''
const byText = (one: string, other: string) => (one < other ? -1 : 1)
const idsOf = (some: SourceOrder[]) => some.map(({ id }) => id)
const idsWhere = (is: (order: SourceOrder) => unknown) => idsOf(orders.filter(is))
const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0)
const subtotalOf = (items: SourceOrder['items']) =>
  sum(items.map((item) => item.unit_price * item.quantity))
const groupsOf = (key: (order: SourceOrder) => unknown, least: number) =>
  [...Map.groupBy(orders, key).values()].filter((group) => group.length >= least)

describe('demo orders', () => {
  it('are the same for the same options', () => {
    expect([...demoOrders({ count: 3000, seed: 1, until })]).toEqual(orders)
  })

  it('are others for another seed', () => {
    const ids = new Set(orders.map(({ id }) => id))
    const others = [...demoOrders({ count: 3000, seed: 2, until })]
    expect(others.filter(({ id }) => ids.has(id))).toEqual([])
    expect(others.map(({ customer }) => customer)).not.toEqual(
      orders.map(({ customer }) => customer),
    )
  })

  it('are, when fewer are asked for, the first of more', () => {
    expect([...demoOrders({ count: 100, seed: 1, until })]).toEqual(orders.slice(0, 100))
  })

  it('move as a whole with `until`', () => {
    const later = [...demoOrders({ count: 100, seed: 1, until: until + DAY_MS })]
    expect(later.map(({ created_at }) => Date.parse(created_at) - DAY_MS)).toEqual(
      orders.slice(0, 100).map(({ created_at }) => Date.parse(created_at)),
    )
  })

  it('keep the schema of a source order', () => {
    expect(idsWhere((order) => !Value.Check(SourceOrder, order))).toEqual([])
  })

  it('have ids of their own, in another order than their creation', () => {
    const inOrderOfIds = orders.toSorted((a, b) => byText(a.id, b.id))
    const inOrderOfTime = orders.toSorted((a, b) => byText(a.created_at, b.created_at))
    expect(new Set(orders.map(({ id }) => id)).size).toBe(orders.length)
    expect(idsOf(inOrderOfIds)).not.toEqual(idsOf(orders))
    expect(idsOf(inOrderOfIds)).not.toEqual(idsOf(inOrderOfTime))
  })

  it('belong to the demo accounts alone, most of them to the first', () => {
    const accounts = new Set(
      orders.flatMap((order) => [order.owner_account_id, ...(order.coproducer_account_ids ?? [])]),
    )
    const owned = orders.filter(({ owner_account_id }) => owner_account_id === DEMO_ACCOUNT)
    expect([...accounts].toSorted(byText)).toEqual([...DEMO_ACCOUNTS])
    expect(owned.length).toBeGreaterThan(orders.length / 2)
  })

  it('play every scenario as often as its weight in each round, wherever the round begins', () => {
    for (const start of [0, 1, 777]) {
      const round = Array.from({ length: ROUND_LENGTH }, (_, at) => scenarioAt(start + at))
      const played = scenarios.map((scenario) => round.filter((one) => one === scenario).length)
      expect(played).toEqual(scenarios.map(({ weight }) => weight))
    }
  })
})

describe('any 2,000 demo orders in a row', () => {
  it.each(orderStatuses)('have the order status %s', (status) => {
    expect(everyStretchHas((order) => order.status === status)).toBe(true)
  })

  it.each(paymentStatuses)('have a last payment that is %s', (status) => {
    expect(everyStretchHas((order) => lastStatusIs(order, status))).toBe(true)
  })

  it.each(singlePaymentMethods)('have a last payment by %s', (method) => {
    expect(everyStretchHas((order) => lastPayment(order).method === method)).toBe(true)
  })

  it.each(userAgents)('have a buyer with the browser %s', (agent) => {
    expect(everyStretchHas((order) => agentOf(order) === agent)).toBe(true)
  })

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
    ['an order the API does not show', (o) => o.payments.every((p) => p.status === 'FAILED')],
    ['a boleto with a coupon', (o) => lastPayment(o).method === 'BOLETO' && o.promocode],
    ['a card with interest', (o) => lastPayment(o).interest_amount > 0],
    ['a refusal by anti-fraud', (o) => lastPayment(o).decline_message?.includes('segurança')],
    ['a card of an unknown brand', (o) => lastPayment(o).card?.brand === 'BANESCARD'],
    ['a card without a brand', (o) => lastPayment(o).card?.brand === null],
    ['an old record without installments', (o) => lastPayment(o).installments === null],
    ['an order not yet filled', (o) => o.changed_at === null],
    ['one co-producer', (o) => o.coproducer_account_ids?.length === 1],
    ['two co-producers', (o) => o.coproducer_account_ids?.length === 2],
    ['three co-producers', (o) => o.coproducer_account_ids?.length === 3],
    ['the demo account as co-producer', (o) => o.coproducer_account_ids?.includes(DEMO_ACCOUNT)],
    ['an order bump', (o) => o.items.some((item) => item.order_bump_id)],
    ['several of an item', (o) => o.items.some((item) => item.quantity > 1)],
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
    ['a document that is none', (o) => documentOf(o) === 'isento'],
    ['no document', (o) => o.customer.document === null],
    ['no phone', (o) => !('phone' in o.customer)],
  ])('have %s', (_, is) => {
    expect(everyStretchHas(is)).toBe(true)
  })
})

describe('instants of demo orders', () => {
  const ages = orders.map(({ created_at }) => (until - Date.parse(created_at)) / DAY_MS)

  it.each<[string, (order: SourceOrder) => unknown]>([
    ['past `until`', (o) => instantsOf(o).some((at) => Date.parse(at) > until)],
    ['before the creation', (o) => instantsOf(o).some((at) => at < o.created_at)],
    [
      'after the last change',
      ({ changed_at: changed, ...o }) => changed && instantsOf(o).some((at) => at > changed),
    ],
    [
      'of a refund before its payment',
      ({ payments }) => payments.some((one) => one.refunded_at && one.refunded_at < one.created_at),
    ],
  ])('are never %s', (_, is) => {
    expect(idsWhere(is)).toEqual([])
  })

  it('reach back two years, and more of them lie near the end', () => {
    expect(Math.max(...ages)).toBeLessThanOrEqual(730)
    expect(Math.max(...ages)).toBeGreaterThan(600)
    expect(ages.filter((age) => age < 365).length).toBeGreaterThan(0.6 * ages.length)
  })

  it('come within minutes of `until`, however few the orders', () => {
    expect(Math.min(...ages) * DAY_MS).toBeLessThan(5 * MINUTE_MS)
    expect(ages[0]).toBeLessThan((30 * MINUTE_MS) / DAY_MS)
  })

  it('leave groups of orders created in the same millisecond', () => {
    expect(groupsOf((order) => order.created_at, 3).length).toBeGreaterThan(20)
  })

  it('leave groups of orders changed in the same millisecond', () => {
    const groups = groupsOf((order) => order.changed_at, 3)
    expect(groups.filter(([order]) => order?.changed_at).length).toBeGreaterThan(20)
  })
})

describe('amounts of demo orders', () => {
  const isContract = (_: SourceOrder, index: number) =>
    scenarioAt(index).name.startsWith('smart installments')
  const single = orders.filter(
    (order, index) =>
      order.payments.length === 1 && order.amount_total > 0 && !isContract(order, index),
  )

  it('have no part of a split payment below five reais', () => {
    const parts = orders.filter(isSplit).flatMap((order) => order.payments)
    expect(Math.min(...parts.map(({ amount }) => amount))).toBeGreaterThanOrEqual(500)
  })

  it('have a total that all parts of a split payment add up to', () => {
    const wrong = orders.filter(isSplit).filter(({ amount_total, payments }) => {
      return amount_total !== sum(payments.map(({ amount }) => amount))
    })
    expect(idsOf(wrong)).toEqual([])
  })

  it('have a total that is the amount of a single payment', () => {
    expect(idsOf(single.filter((o) => o.amount_total !== lastPayment(o).amount))).toEqual([])
  })

  it('have a payment of the subtotal, less the discount, with the interest', () => {
    const wrong = single.filter(({ items, payments: [payment] }) => {
      const { amount = 0, discount_amount = 0, interest_amount = 0 } = payment ?? {}
      return amount !== subtotalOf(items) - discount_amount + interest_amount
    })
    expect(idsOf(wrong)).toEqual([])
  })

  it('have a subtotal that is the price times the quantity of the items', () => {
    const known = orders.filter((o) => o.amount_total > 0 && o.amount_subtotal !== null)
    const wrong = known.filter((o) => o.amount_subtotal !== subtotalOf(o.items))
    expect(idsOf(wrong)).toEqual([])
  })

  it('have a contract of smart installments that its charges never exceed', () => {
    const contracts = orders.filter(isContract)
    const wrong = contracts.filter(({ amount_total, payments }) => {
      return sum(payments.map(({ amount }) => amount)) > amount_total
    })
    expect(contracts.length).toBeGreaterThan(0)
    expect(idsOf(wrong)).toEqual([])
  })

  it('are zero for a trial', () => {
    const trials = orders.filter(({ status }) => status === 'TRIAL')
    const amounts = trials.flatMap((o) => [o.amount_total, o.amount_subtotal, o.amount_in_brl])
    expect(new Set(amounts)).toEqual(new Set([0]))
  })

  it('are in reais what they are in total, unless the currency is another', () => {
    expect(idsWhere((o) => o.currency === 'BRL' && o.amount_in_brl !== o.amount_total)).toEqual([])
  })

  it('have a coupon below zero, and its discount on the first payment above zero', () => {
    const wrong = idsWhere(({ promocode, payments: [first] }) => {
      const taken = promocode?.amount ?? -1
      return promocode && (taken >= 0 || (first?.discount_amount ?? 0) < -taken)
    })
    expect(wrong).toEqual([])
  })
})

describe('buyers of demo orders', () => {
  it('have a CPF with the right check digits', () => {
    const cpfs = orders.map((order) => documentOf(order)).filter((text) => /^\d{11}$/.test(text))
    const wrong = cpfs.filter((cpf) =>
      [9, 10].some((length) => {
        const digits = [...cpf.slice(0, length)].map(Number)
        const weighted = sum(digits.map((digit, at) => digit * (length + 1 - at)))
        return ((weighted * 10) % 11) % 10 !== Number(cpf[length])
      }),
    )
    expect(wrong).toEqual([])
  })

  it('take an upsell minutes after its parent, from the same account', () => {
    const byId = new Map(orders.map((order) => [order.id, order]))
    const upsells = orders.filter(({ metadata }) => metadata?.order_parent_id)
    const wrong = upsells.filter((upsell) => {
      const parent = byId.get(upsell.metadata?.order_parent_id ?? '')
      const laterMs = Date.parse(upsell.created_at) - Date.parse(parent?.created_at ?? '')
      const isSame = parent?.owner_account_id === upsell.owner_account_id
      return !(isSame && laterMs >= MINUTE_MS && laterMs <= 5 * MINUTE_MS)
    })
    expect(idsOf(wrong)).toEqual([])
  })
})
