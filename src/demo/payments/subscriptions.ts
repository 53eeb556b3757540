import type { SourcePayment } from '../../indexing/projection/source-order.ts'
import { DAY_MS, HOUR_MS } from '../../lib/durations.ts'
import { MONTH_MS } from '../calendar.ts'
import { bankDecline, communicationFailure } from './cards.ts'
import {
  type Checkout,
  charge,
  type Method,
  type OrderOutcome,
  outcomeOf,
  type PaymentFlow,
  RESPONSE_MS,
} from './charge.ts'
import { confirmationInstant } from './single-payments.ts'

/** Length of a trial. */
export const TRIAL_MS = 7 * DAY_MS
/** Retry period of declined renewals, after which the subscription is canceled. */
export const DELINQUENCY_MS = 10 * DAY_MS

const RETRY_MS = 3 * DAY_MS
/** Time for the confirmation of the last charge of a series before `until`. */
const CONFIRMATION_MS = HOUR_MS

/** A subscription paid once, before its first renewal. */
export const subscribed: PaymentFlow = (checkout) => {
  const { first, paidAt } = firstPayment(checkout, 'CREDIT_CARD')
  return outcomeOf('PAID', [first], { paidAt, settledAt: paidAt })
}

/**
 * A subscription with monthly renewals, all paid except possibly the last. A renewal has the price
 * of the plan: a coupon applies to the first payment only.
 */
export function renewed(
  last: 'PAID' | 'DECLINED' | 'FAILED',
  status: OrderOutcome['status'],
): PaymentFlow {
  return (checkout) => {
    const method = last === 'PAID' && checkout.random.chance(0.2) ? 'PIX' : 'CREDIT_CARD'
    const { first, paidAt } = firstPayment(checkout, method)
    const renewals = chargeInstants(checkout).map((at, place, all) =>
      renewal(checkout, method, place === all.length - 1 ? last : 'PAID', place + 2, at),
    )
    const lastAt = Date.parse(renewals.at(-1)?.created_at ?? first.created_at)
    const settledAt =
      last === 'PAID' ? confirmationInstant(checkout.random, method, lastAt) : lastAt
    return outcomeOf(status, [first, ...renewals], { amountTotal: first.amount, paidAt, settledAt })
  }
}

/** A subscription that was canceled after repeated declines of its renewal. */
export const canceledDelinquent: PaymentFlow = (checkout) => {
  const { first, paidAt } = firstPayment(checkout, 'CREDIT_CARD')
  const renewalInstants = chargeInstants(checkout, DELINQUENCY_MS)
  const declinedAt = renewalInstants.at(-1) ?? checkout.createdAt
  const paidInstants = renewalInstants.slice(0, -1)
  const declinedInstants = [0, 1, 2].map((attempt) => declinedAt + attempt * RETRY_MS)
  const payments = [...paidInstants, ...declinedInstants].map((at, place) => {
    const status = at < declinedAt ? 'PAID' : 'DECLINED'
    return renewal(checkout, 'CREDIT_CARD', status, place + 2, at)
  })
  const canceledAt = declinedAt + DELINQUENCY_MS
  return outcomeOf('UNPAID', [first, ...payments], {
    amountTotal: first.amount,
    paidAt,
    canceledAt,
    settledAt: canceledAt,
  })
}

/** A trial with a stored card and no charge. The payment has the price of the plan. */
export const trial: PaymentFlow = (checkout) =>
  outcomeOf('TRIAL', [trialPayment(checkout)], {
    amountTotal: 0,
    settledAt: checkout.createdAt + RESPONSE_MS,
  })

/** A trial that ended without a subscription. */
export const trialExpired: PaymentFlow = (checkout) => {
  const settledAt = checkout.createdAt + TRIAL_MS
  return outcomeOf('UNPAID', [trialPayment(checkout)], { amountTotal: 0, settledAt })
}

/** A trial that became a subscription, charged at the end of the trial. */
export const trialConverted: PaymentFlow = (checkout) => {
  const at = checkout.createdAt + TRIAL_MS
  const first = renewal(checkout, 'CREDIT_CARD', 'PAID', 2, at)
  const paidAt = confirmationInstant(checkout.random, 'CREDIT_CARD', at)
  return outcomeOf('PAID', [trialPayment(checkout), first], { paidAt, settledAt: paidAt })
}

/**
 * Timestamps of the monthly charges after the first. Each is confirmed at least `roomMs` before
 * `until`.
 */
export function chargeInstants({ createdAt, until }: Checkout, roomMs = 0): number[] {
  const count = Math.floor((until - CONFIRMATION_MS - roomMs - createdAt) / MONTH_MS)
  return Array.from({ length: count }, (_, place) => createdAt + (place + 1) * MONTH_MS)
}

function firstPayment(
  checkout: Checkout,
  method: Method,
): { first: SourcePayment; paidAt: number } {
  return {
    first: charge(checkout, { method, status: 'PAID' }),
    paidAt: confirmationInstant(checkout.random, method, checkout.createdAt),
  }
}

function renewal(
  checkout: Checkout,
  method: Method,
  status: SourcePayment['status'],
  number: number,
  at: number,
): SourcePayment {
  const quote = { amount: checkout.cart.subtotal, discount: 0 }
  return charge(checkout, {
    method,
    status,
    number,
    at,
    quote,
    ...(status === 'DECLINED' && { decline: bankDecline(checkout.random) }),
    ...(status === 'FAILED' && { decline: communicationFailure }),
  })
}

function trialPayment(checkout: Checkout): SourcePayment {
  const quote = { amount: checkout.cart.subtotal, discount: 0 }
  return charge(checkout, { method: 'CREDIT_CARD', status: 'TRIAL', quote })
}
