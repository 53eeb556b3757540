import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { projectPayment } from '../../../../src/indexing/projection/payment.ts'
import type { SourcePayment } from '../../../../src/indexing/projection/source-order.ts'
import { cardBrands, paymentStatuses } from '../../../../src/orders/order-values.ts'
import { sourcePayments } from '../../../support/orders/arbitraries.ts'
import { sourcePayment } from '../../../support/orders/source-order.ts'

const MINUTE_1 = '2026-03-01T12:01:00Z'
const MINUTE_2 = '2026-03-01T12:02:00Z'

const card = { brand: 'VISA', last4: '4242' }
const byCard = (changes: Partial<SourcePayment> = {}) =>
  sourcePayment({ method: 'CREDIT_CARD', installments: 6, card, ...changes })
const project = (...payments: SourcePayment[]) => projectPayment(payments)
const amounts = (amount: number, fee = 0) => ({ amount, fee })

describe('the last payment', () => {
  it.each<[string, Partial<SourcePayment>, Partial<SourcePayment>]>([
    ['created last', { created_at: MINUTE_1 }, { created_at: MINUTE_2 }],
    [
      'created last, in another zone',
      { created_at: '2026-03-01T13:00:00+02:00' },
      { created_at: '2026-03-01T08:30:00-03:00' },
    ],
    [
      'with the greatest id of those created together',
      { id: 'pay_1', created_at: MINUTE_1 },
      { id: 'pay_2', created_at: '2026-03-01T09:01:00-03:00' },
    ],
    [
      'with the greatest id, compared as text',
      { id: 'pay_10', created_at: MINUTE_1 },
      { id: 'pay_9', created_at: MINUTE_1 },
    ],
    [
      'created later within one millisecond',
      { id: 'pay_2', created_at: '2026-03-01T12:00:00.0001Z' },
      { id: 'pay_1', created_at: '2026-03-01T12:00:00.0009Z' },
    ],
  ])('the last payment is the one %s, in any sequence', (_name, earlier, later) => {
    const one = sourcePayment({ ...earlier, amount: 1 })
    const other = sourcePayment({ ...later, amount: 2 })
    expect([project(one, other).amount, project(other, one).amount]).toEqual([2, 2])
  })

  it('the last payment is found in linear time', { timeout: 5_000 }, () => {
    // To read the instant with many digits again for each payment would take quadratic time.
    const created_at = `2026-03-01T12:00:00.0001${'1'.repeat(1_000_000)}Z`
    const others = Array.from({ length: 8_000 }, (_, n) =>
      sourcePayment({ id: `pay_${n}`, created_at: '2026-03-01T12:00:00Z' }),
    )
    expect(project(sourcePayment({ created_at, amount: 7 }), ...others).amount).toBe(7)
  })

  it('the last payment of a renewal has all values', () => {
    const first = byCard({ ...amounts(9900, 690), amount_refunded: 9900, refunded_at: MINUTE_2 })
    const renewal = sourcePayment({ id: 'pay_2', created_at: MINUTE_1, ...amounts(4900, 350) })
    expect(project(first, renewal)).toEqual({
      method: 'PIX',
      status: 'PAID',
      installments: 1,
      amount: 4900,
      interest_amount: 0,
      discount_amount: 0,
      fee: 350,
      amount_refunded: null,
      refunded_at: null,
      decline_code: null,
      decline_message: null,
      card: null,
    })
  })

  it('the last payment shows FAILED unchanged', () => {
    const failed = byCard({ id: 'pay_2', created_at: MINUTE_1, status: 'FAILED', amount: 500 })
    expect(project(sourcePayment(), failed)).toMatchObject({ status: 'FAILED', amount: 500 })
  })

  it('the last payment counts alone after an earlier split payment', () => {
    const part = byCard({ split_group: 'g1', amount: 1000 })
    expect(project(part, sourcePayment({ created_at: MINUTE_1, amount: 30 }))).toMatchObject({
      method: 'PIX',
      amount: 30,
    })
  })
})

describe('amount', () => {
  it('the amount is 0 in a trial', () => {
    expect(project(byCard({ status: 'TRIAL', amount: 4990 })).amount).toBe(0)
  })

  it.each(paymentStatuses.filter((status) => status !== 'TRIAL'))(
    'the amount is kept when the status is %s',
    (status) => {
      expect(project(byCard({ status, amount: 4990 })).amount).toBe(4990)
    },
  )
})

describe('installments', () => {
  it.each([
    ['1 for PIX', sourcePayment({ method: 'PIX', installments: 3 }), 1],
    ['1 for boleto', sourcePayment({ method: 'BOLETO', installments: null }), 1],
    ['those of the payment for a card', byCard({ installments: 12 }), 12],
    ['null for an old record of a card', byCard({ installments: null }), null],
  ])('the installments are %s', (_name, payment, installments) => {
    expect(project(payment).installments).toBe(installments)
  })
})

describe('the decline', () => {
  const decline = { decline_code: 'AB-0051', decline_message: 'Saldo insuficiente' }

  it('the decline of a declined payment is visible', () => {
    expect(project(byCard({ status: 'DECLINED', ...decline }))).toMatchObject(decline)
  })

  it('the decline may have no code', () => {
    expect(project(byCard({ status: 'DECLINED' }))).toMatchObject({
      decline_code: null,
      decline_message: null,
    })
  })

  it.each(paymentStatuses.filter((status) => status !== 'DECLINED'))(
    'the decline is null when the payment is %s',
    (status) => {
      expect(project(byCard({ status, ...decline }))).toMatchObject({
        decline_code: null,
        decline_message: null,
      })
    },
  )

  it('the decline is null when only an earlier payment was declined', () => {
    const earlier = byCard({ status: 'DECLINED', ...decline })
    expect(project(earlier, sourcePayment({ created_at: MINUTE_1 })).decline_code).toBeNull()
  })
})

describe('the card', () => {
  it.each([...cardBrands])('the card keeps the brand %s', (brand) => {
    expect(project(byCard({ card: { brand, last4: '1881' } })).card).toEqual({
      brand,
      last4: '1881',
    })
  })

  it.each(['visa', 'PADARIA', '', null])(
    'the card has no brand when it is not recognised: %j',
    (brand) => {
      expect(project(byCard({ card: { ...card, brand } })).card).toEqual({
        brand: null,
        last4: '4242',
      })
    },
  )

  it('the card has no other field', () => {
    const given = { ...card, number: '4111111111111111' }
    expect(project(byCard({ card: given })).card).toEqual(card)
  })

  it.each(['PIX', 'BOLETO'] as const)('the card is null when the payment is by %s', (method) => {
    expect(project(sourcePayment({ method, card })).card).toBeNull()
  })

  it('the card is null when none is known', () => {
    expect(project(byCard({ card: null })).card).toBeNull()
  })
})

describe('refunded_at', () => {
  it('refunded_at is in UTC with milliseconds', () => {
    const refunded_at = '2026-03-02T06:00:00-03:00'
    expect(project(sourcePayment({ refunded_at })).refunded_at).toBe('2026-03-02T09:00:00.000Z')
  })
})

describe('any payments', () => {
  it('payments give the same result in any sequence', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(sourcePayments, { minLength: 1, maxLength: 5, selector: ({ id }) => id }),
        (payments) => {
          expect(projectPayment(payments.toReversed())).toEqual(projectPayment(payments))
        },
      ),
    )
  })
})
