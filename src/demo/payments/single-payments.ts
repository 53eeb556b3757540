import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/durations.ts'
import type { Random } from '../random.ts'
import { bankDecline, communicationFailure, type Decline } from './cards.ts'
import {
  type Checkout,
  charge,
  type Method,
  type OrderOutcome,
  outcomeOf,
  type PaymentFlow,
  RESPONSE_MS,
} from './charge.ts'

type ExpiringMethod = Exclude<Method, 'CREDIT_CARD'>

/** Time until a payment expires. */
export const EXPIRY_MS = {
  PIX: 30 * MINUTE_MS,
  BOLETO: 3 * DAY_MS,
} as const satisfies Record<ExpiringMethod, number>

/** Minimum and maximum delay of the confirmation after the issue. */
const confirmationMs = {
  CREDIT_CARD: [2 * SECOND_MS, 9 * SECOND_MS],
  PIX: [20 * SECOND_MS, 25 * MINUTE_MS],
  BOLETO: [8 * HOUR_MS, 60 * HOUR_MS],
} as const satisfies Record<Method, readonly [number, number]>

const RETRY_MS = 2 * MINUTE_MS

/** When a charge issued at `from` is confirmed as paid. */
export function confirmationInstant(random: Random, method: Method, from: number): number {
  return from + random.between(...confirmationMs[method])
}

/** Paid at the first attempt: by card in up to twelve installments, with interest if requested. */
export function paid(method: Method, { withInterest = false } = {}): PaymentFlow {
  return (checkout) => {
    const installments = drawInstallments(checkout.random, method, withInterest ? 2 : 1)
    const payment = charge(checkout, { method, status: 'PAID', installments, withInterest })
    const paidAt = confirmationInstant(checkout.random, method, checkout.createdAt)
    return outcomeOf('PAID', [payment], { paidAt, settledAt: paidAt })
  }
}

/** PIX or boleto issued and still payable. */
export function awaiting(method: ExpiringMethod): PaymentFlow {
  return (checkout) =>
    outcomeOf('AWAITING_PAYMENT', [charge(checkout, { method, status: 'PENDING' })], {
      settledAt: checkout.createdAt + RESPONSE_MS,
    })
}

/** PIX or boleto that expired unpaid. */
export function expired(method: ExpiringMethod): PaymentFlow {
  return (checkout) =>
    outcomeOf('UNPAID', [charge(checkout, { method, status: 'UNPAID' })], {
      settledAt: checkout.createdAt + EXPIRY_MS[method],
    })
}

/** A card declined at checkout, sometimes twice. */
export function declined(reason: (random: Random) => Decline): PaymentFlow {
  return (checkout) => unpaidByCard(checkout, 'DECLINED', reason(checkout.random))
}

/** No attempt reached the bank: the API omits such an order. */
export const neverSent: PaymentFlow = (checkout) =>
  unpaidByCard(checkout, 'FAILED', communicationFailure)

/** A failed attempt by card, then a paid one by PIX. */
export function secondAttempt(first: 'DECLINED' | 'FAILED'): PaymentFlow {
  return (checkout) => {
    const { random } = checkout
    const decline = first === 'FAILED' ? communicationFailure : bankDecline(random)
    const at = checkout.createdAt + SECOND_MS + RETRY_MS
    const payments = [
      charge(checkout, { method: 'CREDIT_CARD', status: first, decline }),
      charge(checkout, { method: 'PIX', status: 'PAID', number: 2, at }),
    ]
    const paidAt = confirmationInstant(random, 'PIX', at)
    return outcomeOf('PAID', payments, { paidAt, settledAt: paidAt })
  }
}

function drawInstallments(random: Random, method: Method, fewest: number): number {
  return method === 'CREDIT_CARD' ? random.between(fewest, 12) : 1
}

function unpaidByCard(
  checkout: Checkout,
  status: 'DECLINED' | 'FAILED',
  decline: Decline,
): OrderOutcome {
  const attempts = checkout.random.chance(0.3) ? [1, 2] : [1]
  const payments = attempts.map((number) => {
    const at = checkout.createdAt + SECOND_MS + (number - 1) * RETRY_MS
    return charge(checkout, { method: 'CREDIT_CARD', status, number, at, decline })
  })
  return outcomeOf('UNPAID', payments, {
    settledAt: checkout.createdAt + attempts.length * RETRY_MS,
  })
}
