import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { projectPayment } from '../../../../src/indexing/projection/payment.ts'
import type { SourcePayment } from '../../../../src/indexing/projection/source-order.ts'
import type { PaymentStatus } from '../../../../src/orders/order-values.ts'
import { sourcePayments } from '../../../support/orders/arbitraries.ts'
import { sourcePayment } from '../../../support/orders/source-order.ts'

const PAID: PaymentStatus[] = ['PAID', 'PARTIALLY_REFUNDED', 'REFUNDED', 'DISPUTED']
const UNPAID: PaymentStatus[] = ['PENDING', 'FAILED', 'DECLINED', 'UNPAID']

/** The n-th part of a split payment; each is later than the previous one. */
const part = (n: number, changes: Partial<SourcePayment> = {}) =>
  sourcePayment({
    id: `pay_${n}`,
    created_at: `2026-03-01T12:0${n}:00Z`,
    split_group: 'g1',
    amount: 1000 * n,
    interest_amount: 10 * n,
    discount_amount: 5 * n,
    fee: 70 * n,
    ...changes,
  })

describe('a split payment', () => {
  it('a split payment adds up its parts', () => {
    expect(projectPayment([part(1), part(2)])).toMatchObject({
      method: 'MULTIPLE',
      amount: 3000,
      interest_amount: 30,
      discount_amount: 15,
      fee: 210,
    })
  })

  it('a split payment shows the other values of its last part', () => {
    const card = { brand: 'ELO', last4: '1881' }
    const last = part(2, { method: 'CREDIT_CARD', installments: 4, card, status: 'DECLINED' })
    const decline = { decline_code: 'AB-0051', decline_message: 'Não' }
    expect(projectPayment([part(1), { ...last, ...decline }])).toMatchObject({
      status: 'DECLINED',
      installments: 4,
      card,
      ...decline,
    })
  })

  it.each(PAID)('a split payment counts a part that is %s', (status) => {
    expect(projectPayment([part(1, { status }), part(2)]).amount).toBe(3000)
  })

  it.each(UNPAID)('a split payment does not count a part that is %s', (status) => {
    const { amount, fee } = projectPayment([part(1, { status }), part(2)])
    expect([amount, fee]).toEqual([2000, 140])
  })

  it.each(UNPAID)('a split payment does not count its last part when that is %s', (status) => {
    expect(projectPayment([part(1), part(2, { status })])).toMatchObject({ amount: 1000, status })
  })

  it('a split payment without a paid part adds up to 0', () => {
    const status = 'PENDING'
    expect(projectPayment([part(1, { status }), part(2, { status })])).toMatchObject({
      method: 'MULTIPLE',
      amount: 0,
      interest_amount: 0,
      discount_amount: 0,
      fee: 0,
      amount_refunded: null,
    })
  })

  it('a split payment does not count payments of no group or of another', () => {
    const payments = [
      part(1),
      part(2, { split_group: 'g2' }),
      part(3, { split_group: null }),
      part(4),
    ]
    expect(projectPayment(payments).amount).toBe(5000)
  })

  it('a split payment is MULTIPLE between its first and second part', () => {
    expect(projectPayment([part(1)]).method).toBe('MULTIPLE')
  })

  it.each<[string, (number | null)[], number | null]>([
    ['adds up the refunds of its parts', [300, 40], 340],
    ['counts a part without refunds as 0', [300, null], 300],
    ['shows a refund of 0', [0, null], 0],
    ['has no refunds when no part has', [null, null], null],
  ])('a split payment %s', (_name, [one = null, other = null], total) => {
    const payments = [part(1, { amount_refunded: one }), part(2, { amount_refunded: other })]
    expect(projectPayment(payments).amount_refunded).toBe(total)
  })

  it('a split payment adds up exactly its paid parts, whatever payments exist', () => {
    fc.assert(
      fc.property(fc.array(sourcePayments, { maxLength: 6 }), sourcePayments, (payments, drawn) => {
        const last = { ...drawn, created_at: '2027-01-01T00:00:00Z', split_group: 'g1' }
        const all = [...payments, last]
        const parts = all.filter((one) => one.split_group === 'g1' && PAID.includes(one.status))
        const total = (field: 'interest_amount' | 'discount_amount' | 'fee') =>
          parts.map((one) => one[field]).reduce((sum, cents) => sum + cents, 0)
        expect(projectPayment(all)).toMatchObject({
          method: 'MULTIPLE',
          interest_amount: total('interest_amount'),
          discount_amount: total('discount_amount'),
          fee: total('fee'),
        })
      }),
    )
  })
})
