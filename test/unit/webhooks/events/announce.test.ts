import { describe, expect, it } from 'vitest'
import { announce } from '../../../../src/webhooks/events/announce.ts'
import type { OrderState } from '../../../../src/webhooks/events/order-state.ts'

function state(
  status: OrderState['status'],
  payment_status: OrderState['payment_status'],
  others: Partial<OrderState> = {},
): OrderState {
  return {
    status,
    payment_status,
    last_payment_id: 'pay_1',
    amount_refunded: null,
    decline_code: null,
    ...others,
  }
}

const AWAITING = state('AWAITING_PAYMENT', 'PENDING')
const PAID = state('PAID', 'PAID')
const DECLINED = state('UNPAID', 'DECLINED', { decline_code: 'BR-1001' })
const DISPUTED = state('DISPUTED', 'DISPUTED')
const TRIAL = state('TRIAL', 'TRIAL')
const SECOND = { last_payment_id: 'pay_2' }

describe('the first view of an order', () => {
  it.each([
    ['AWAITING_PAYMENT', AWAITING, ['order.created', 'order.awaiting_payment']],
    ['PAID', PAID, ['order.created', 'order.paid']],
    ['a declined card', DECLINED, ['order.created', 'order.unpaid', 'order.payment_declined']],
    [
      'an expired boleto',
      state('UNPAID', 'UNPAID'),
      ['order.created', 'order.unpaid', 'order.payment_expired'],
    ],
    ['TRIAL', TRIAL, ['order.created', 'order.trial_started']],
    ['CANCELED', state('CANCELED', 'REFUNDED'), ['order.created', 'order.canceled']],
    ['REFUNDED', state('REFUNDED', 'REFUNDED'), ['order.created', 'order.refunded']],
    ['DISPUTED', DISPUTED, ['order.created', 'order.disputed']],
    ['a reserved status', state('SHIPPED', 'PAID'), ['order.created']],
    [
      'a partial refund',
      state('PAID', 'PARTIALLY_REFUNDED', { amount_refunded: 100 }),
      ['order.created', 'order.paid', 'order.partially_refunded'],
    ],
  ])('announces its creation, status and payment: %s', (_name, after, types) => {
    expect(announce(null, after, { isViewChanged: true })).toEqual(types)
  })
})

describe('a transition', () => {
  it.each([
    ['a PIX is paid', AWAITING, PAID, ['order.paid']],
    [
      'a PIX expires',
      AWAITING,
      state('UNPAID', 'UNPAID'),
      ['order.unpaid', 'order.payment_expired'],
    ],
    ['a card is declined', AWAITING, DECLINED, ['order.unpaid', 'order.payment_declined']],
    ['a second card is declined', DECLINED, { ...DECLINED, ...SECOND }, ['order.payment_declined']],
    ['a second card is paid', DECLINED, state('PAID', 'PAID', SECOND), ['order.paid']],
    [
      'a split payment is not completed in time',
      state('AWAITING_PAYMENT', 'PAID'),
      state('CANCELED', 'REFUNDED', { amount_refunded: 500 }),
      ['order.canceled'],
    ],
    ['a chargeback arrives', PAID, DISPUTED, ['order.disputed']],
    ['a dispute is won', DISPUTED, PAID, ['order.dispute_won']],
    ['a dispute is lost', DISPUTED, state('REFUNDED', 'REFUNDED'), ['order.refunded']],
    [
      'a part is refunded',
      PAID,
      state('PAID', 'PARTIALLY_REFUNDED', { amount_refunded: 100 }),
      ['order.partially_refunded'],
    ],
    [
      'another part is refunded',
      state('PAID', 'PARTIALLY_REFUNDED', { amount_refunded: 100 }),
      state('PAID', 'PARTIALLY_REFUNDED', { amount_refunded: 300 }),
      ['order.partially_refunded'],
    ],
    [
      'a part of a split payment is refunded',
      PAID,
      state('PAID', 'PAID', { amount_refunded: 100 }),
      ['order.partially_refunded'],
    ],
    [
      'all is refunded',
      PAID,
      state('REFUNDED', 'REFUNDED', { amount_refunded: 9900 }),
      ['order.refunded'],
    ],
    ['a renewal is paid', PAID, state('PAID', 'PAID', SECOND), ['order.payment_received']],
    [
      'a pending renewal is paid',
      state('PAID', 'PENDING', SECOND),
      state('PAID', 'PAID', SECOND),
      ['order.payment_received'],
    ],
    [
      'a renewal is declined',
      PAID,
      { ...DECLINED, ...SECOND },
      ['order.unpaid', 'order.payment_declined'],
    ],
    ['a declined renewal is paid at last', { ...DECLINED, ...SECOND }, PAID, ['order.paid']],
    ['a trial converts', TRIAL, state('PAID', 'PAID', SECOND), ['order.paid']],
    ['a trial expires', TRIAL, state('UNPAID', 'TRIAL'), ['order.unpaid']],
    ['a reserved status follows', PAID, state('SHIPPED', 'PAID'), ['order.updated']],
    ['a renewal does not reach the bank', PAID, state('PAID', 'FAILED', SECOND), ['order.updated']],
  ] as const)('%s', (_name, before, after, types) => {
    expect(announce(before, after, { isViewChanged: true })).toEqual(types)
  })

  it('a change that nothing else announces is an update', () => {
    expect(announce(PAID, PAID, { isViewChanged: true })).toEqual(['order.updated'])
  })

  it('a version that shows nothing new announces nothing', () => {
    expect(announce(PAID, PAID, { isViewChanged: false })).toEqual([])
  })

  it('a new payment is announced even when no field of the view differs', () => {
    const renewed = state('PAID', 'PAID', SECOND)
    expect(announce(PAID, renewed, { isViewChanged: false })).toEqual(['order.payment_received'])
  })

  it('a refund of an earlier payment is not announced again by a renewal', () => {
    const before = state('PAID', 'PAID', { amount_refunded: 100 })
    const after = state('PAID', 'PAID', { ...SECOND, amount_refunded: 200 })
    expect(announce(before, after, { isViewChanged: true })).toEqual(['order.payment_received'])
  })
})
