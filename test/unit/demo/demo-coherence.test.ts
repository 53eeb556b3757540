import { describe, expect, it } from 'vitest'
import { scenarioAt } from '../../../src/demo/scenarios.ts'
import type { SourceOrder } from '../../../src/indexing/projection/source-order.ts'
import { DAY_MS, MINUTE_MS } from '../../../src/lib/durations.ts'
import {
  documentOf,
  groupsOf,
  idsOf,
  idsWhere,
  instantsOf,
  isSplit,
  lastPayment,
  orders,
  subtotalOf,
  sum,
  until,
} from './sample.ts'

describe('timestamps of demo orders', () => {
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
  ])('timestamps of demo orders are never %s', (_, is) => {
    expect(idsWhere(is)).toEqual([])
  })

  it('timestamps of demo orders span two years, and are denser near the end', () => {
    expect(Math.max(...ages)).toBeLessThanOrEqual(730)
    expect(Math.max(...ages)).toBeGreaterThan(600)
    expect(ages.filter((age) => age < 365).length).toBeGreaterThan(0.6 * ages.length)
  })

  it('timestamps of demo orders reach within minutes of `until` for any number of orders', () => {
    expect(Math.min(...ages) * DAY_MS).toBeLessThan(5 * MINUTE_MS)
    expect(ages[0]).toBeLessThan((30 * MINUTE_MS) / DAY_MS)
  })

  it('timestamps of demo orders include groups of orders created in the same millisecond', () => {
    expect(groupsOf((order) => order.created_at, 3).length).toBeGreaterThan(20)
  })

  it('timestamps of demo orders include groups of orders changed in the same millisecond', () => {
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

  it('amounts of demo orders include no split part below five reais', () => {
    const parts = orders.filter(isSplit).flatMap((order) => order.payments)
    expect(Math.min(...parts.map(({ amount }) => amount))).toBeGreaterThanOrEqual(500)
  })

  it('amounts of demo orders have a total equal to the sum of the split parts', () => {
    const wrong = orders.filter(isSplit).filter(({ amount_total, payments }) => {
      return amount_total !== sum(payments.map(({ amount }) => amount))
    })
    expect(idsOf(wrong)).toEqual([])
  })

  it('amounts of demo orders have a total equal to the amount of a single payment', () => {
    expect(idsOf(single.filter((o) => o.amount_total !== lastPayment(o).amount))).toEqual([])
  })

  it('amounts of demo orders have a payment of subtotal minus discount plus interest', () => {
    const wrong = single.filter(({ items, payments: [payment] }) => {
      const { amount = 0, discount_amount = 0, interest_amount = 0 } = payment ?? {}
      return amount !== subtotalOf(items) - discount_amount + interest_amount
    })
    expect(idsOf(wrong)).toEqual([])
  })

  it('amounts of demo orders have a subtotal equal to the sum of price times quantity', () => {
    const known = orders.filter((o) => o.amount_total > 0 && o.amount_subtotal !== null)
    const wrong = known.filter((o) => o.amount_subtotal !== subtotalOf(o.items))
    expect(idsOf(wrong)).toEqual([])
  })

  it('amounts of demo orders have smart installments whose charges never exceed the contract', () => {
    const contracts = orders.filter(isContract)
    const wrong = contracts.filter(({ amount_total, payments }) => {
      return sum(payments.map(({ amount }) => amount)) > amount_total
    })
    expect(contracts.length).toBeGreaterThan(0)
    expect(idsOf(wrong)).toEqual([])
  })

  it('amounts of demo orders are zero for a trial', () => {
    const trials = orders.filter(({ status }) => status === 'TRIAL')
    const amounts = trials.flatMap((o) => [o.amount_total, o.amount_subtotal, o.amount_in_brl])
    expect(new Set(amounts)).toEqual(new Set([0]))
  })

  it('amounts of demo orders have an equal amount in reais, unless the currency is foreign', () => {
    expect(idsWhere((o) => o.currency === 'BRL' && o.amount_in_brl !== o.amount_total)).toEqual([])
  })

  it('amounts of demo orders have a negative coupon, and a positive discount on the first payment', () => {
    const wrong = idsWhere(({ promocode, payments: [first] }) => {
      const discount = promocode?.amount ?? -1
      return promocode && (discount >= 0 || (first?.discount_amount ?? 0) < -discount)
    })
    expect(wrong).toEqual([])
  })
})

describe('buyers of demo orders', () => {
  it('buyers of demo orders have a CPF with valid check digits', () => {
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

  it('buyers of demo orders accept an upsell minutes after its parent, from the same account', () => {
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
