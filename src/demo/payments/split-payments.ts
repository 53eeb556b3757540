import type { SourcePayment } from '../../indexing/projection/source-order.ts'
import { MINUTE_MS, SECOND_MS } from '../../lib/durations.ts'
import { laterInstant } from '../calendar.ts'
import type { Random } from '../random.ts'
import { type Checkout, charge, outcomeOf, type PaymentFlow, quoteFor } from './charge.ts'
import { refunded } from './post-sale.ts'

/** Deadline of a split payment, after which it is canceled. */
export const SPLIT_DEADLINE_MS = 20 * MINUTE_MS

const MIN_PART = 500
const CONFIRMATION_MS = 8 * SECOND_MS

/** A split payment with all parts paid, sometimes with parts of the same millisecond. */
export const splitPaid: PaymentFlow = (checkout) => {
  const stepMs = checkout.random.chance(0.2) ? 0 : MINUTE_MS
  const parts = drawParts(checkout, stepMs, 'PAID')
  const paidAt = lastInstant(parts) + CONFIRMATION_MS
  return outcomeOf('PAID', parts, { paidAt, settledAt: paidAt, amountTotal: total(parts) })
}

/** A split payment between two parts, within its deadline of twenty minutes. */
export const splitAwaiting: PaymentFlow = (checkout) => {
  const parts = drawParts(checkout, MINUTE_MS, 'PENDING')
  const settledAt = lastInstant(parts) + CONFIRMATION_MS
  return outcomeOf('AWAITING_PAYMENT', parts, { settledAt, amountTotal: total(parts) })
}

/** A split payment that missed its deadline: canceled, with the paid parts refunded. */
export const splitCanceled: PaymentFlow = (checkout) => {
  const canceledAt = checkout.createdAt + SPLIT_DEADLINE_MS
  const settledAt = laterInstant(checkout.random, canceledAt, checkout.until, 2 * MINUTE_MS)
  const parts = drawParts(checkout, MINUTE_MS, 'UNPAID')
  const payments = parts.map((part) => refunded(part, settledAt))
  return outcomeOf('CANCELED', payments, { canceledAt, settledAt, amountTotal: total(parts) })
}

// All parts are paid except the last, which ends in `lastStatus`; only PIX can pend or expire here.
function drawParts(
  checkout: Checkout,
  stepMs: number,
  lastStatus: SourcePayment['status'],
): SourcePayment[] {
  const { random, cart, createdAt } = checkout
  const quote = quoteFor(cart, 'CREDIT_CARD')
  const amounts = shares(random, quote.amount, random.between(2, 3))
  return amounts.map((amount, place) => {
    const status = place + 1 < amounts.length ? 'PAID' : lastStatus
    const isByPix = status !== 'PAID' || random.chance(0.3)
    return charge(checkout, {
      method: isByPix ? 'PIX' : 'CREDIT_CARD',
      status,
      number: place + 1,
      at: createdAt + SECOND_MS + place * stepMs,
      quote: { amount, discount: place === 0 ? quote.discount : 0 },
      installments: isByPix ? 1 : random.between(1, 6),
      withInterest: true,
      splitGroup: `split_${checkout.suffix}`,
    })
  })
}

// Random shares above a minimum: the amount above all minimums is split at random points.
function shares(random: Random, amount: number, count: number): number[] {
  const free = amount - MIN_PART * count
  const cuts = Array.from({ length: count - 1 }, () => random.between(0, free))
  const marks = [0, ...cuts.sort((one, other) => one - other), free]
  return marks.slice(1).map((mark, place) => MIN_PART + mark - (marks[place] ?? 0))
}

function total(parts: readonly SourcePayment[]): number {
  return parts.reduce((sum, part) => sum + part.amount, 0)
}

function lastInstant(parts: readonly SourcePayment[]): number {
  return Math.max(...parts.map((part) => Date.parse(part.created_at)))
}
