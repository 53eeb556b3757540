import { describe, expect, it } from 'vitest'
import type { SourceOrder } from '../../../../src/indexing/projection/source-order.ts'
import { announce } from '../../../../src/webhooks/events/announce.ts'
import { stateOf } from '../../../../src/webhooks/events/order-state.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder, sourcePayment } from '../../../support/orders/source-order.ts'

/** The types that the first version of a source order announces; `null`: it is not visible. */
function typesOf(source: Partial<SourceOrder>) {
  const { views, lastPaymentId } = changeOf(sourceOrder(source))
  const [view] = views
  if (view === undefined) return null
  return announce(null, stateOf(view.order, lastPaymentId), { isViewChanged: true })
}

const part = (id: string, status: 'PAID' | 'PENDING') =>
  sourcePayment({ id, split_group: 'split_1', status, method: 'CREDIT_CARD' })
const renewal = (status: 'FAILED' | 'DECLINED') =>
  sourcePayment({ id: 'pay_2', created_at: '2026-04-01T12:00:00Z', status })

describe('the first version of a source order', () => {
  it.each<[string, Partial<SourceOrder>, string[] | null]>([
    ['a paid PIX', {}, ['order.created', 'order.paid']],
    [
      'an order before its initial fill',
      {
        changed_at: null,
        status: 'AWAITING_PAYMENT',
        payments: [sourcePayment({ status: 'PENDING' })],
      },
      ['order.created', 'order.awaiting_payment'],
    ],
    [
      'a trial',
      { status: 'TRIAL', payments: [sourcePayment({ status: 'TRIAL', method: 'CREDIT_CARD' })] },
      ['order.created', 'order.trial_started'],
    ],
    [
      'a paid split payment',
      { payments: [part('pay_1', 'PAID'), part('pay_2', 'PAID')] },
      ['order.created', 'order.paid'],
    ],
    [
      'a split payment between its parts',
      { status: 'AWAITING_PAYMENT', payments: [part('pay_1', 'PAID'), part('pay_2', 'PENDING')] },
      ['order.created', 'order.awaiting_payment'],
    ],
    [
      'a declined renewal',
      { status: 'UNPAID', payments: [sourcePayment(), renewal('DECLINED')] },
      ['order.created', 'order.unpaid', 'order.payment_declined'],
    ],
    [
      'a renewal that did not reach the bank',
      { payments: [sourcePayment(), renewal('FAILED')] },
      ['order.created', 'order.paid'],
    ],
    ['only failed payments', { payments: [sourcePayment({ status: 'FAILED' })] }, null],
  ])('announces what a person would expect: %s', (_name, source, types) => {
    expect(typesOf(source)).toEqual(types)
  })
})
