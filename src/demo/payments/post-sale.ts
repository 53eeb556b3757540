import type { SourcePayment } from '../../indexing/projection/source-order.ts'
import { DAY_MS } from '../../lib/durations.ts'
import { formatInstant } from '../../lib/instant.ts'
import { laterInstant } from '../calendar.ts'
import type { Random } from '../random.ts'
import type { OrderOutcome, PaymentFlow } from './charge.ts'

const POST_SALE_WITHIN_MS = 30 * DAY_MS

/** Refunds every payment in full. */
export function fullyRefunded(play: PaymentFlow): PaymentFlow {
  return withPostSale(play, ({ payments }, at) => ({
    status: 'REFUNDED',
    payments: payments.map((payment) => refunded(payment, at)),
  }))
}

/** Refunds a part of the last payment: the order stays paid. */
export function lastPartlyRefunded(play: PaymentFlow): PaymentFlow {
  return withPostSale(play, ({ payments }, at, random) => ({
    payments: payments.map((payment, place) =>
      place === payments.length - 1 ? partiallyRefunded(payment, at, random) : payment,
    ),
  }))
}

/** A chargeback on every payment. */
export function disputed(play: PaymentFlow): PaymentFlow {
  return withPostSale(play, ({ payments }) => ({
    status: 'DISPUTED',
    payments: payments.map((payment) => ({ ...payment, status: 'DISPUTED' })),
  }))
}

/** A chargeback that the seller won: only the update time changes. */
export function disputeWon(play: PaymentFlow): PaymentFlow {
  return withPostSale(play, () => ({}))
}

/** Applies a full refund at `at` (epoch ms) to a payment, unless it was never paid. */
export function refunded(payment: SourcePayment, at: number): SourcePayment {
  if (payment.status !== 'PAID') return payment
  return {
    ...payment,
    status: 'REFUNDED',
    amount_refunded: payment.amount,
    refunded_at: formatInstant(at),
  }
}

function partiallyRefunded(payment: SourcePayment, at: number, random: Random): SourcePayment {
  const share = random.between(10, 60) / 100
  return {
    ...payment,
    status: 'PARTIALLY_REFUNDED',
    amount_refunded: Math.round(payment.amount * share),
    refunded_at: formatInstant(at),
  }
}

function withPostSale(
  play: PaymentFlow,
  change: (before: OrderOutcome, at: number, random: Random) => Partial<OrderOutcome>,
): PaymentFlow {
  return (checkout) => {
    const { random, until } = checkout
    const before = play(checkout)
    const at = laterInstant(random, before.settledAt, until, POST_SALE_WITHIN_MS)
    return { ...before, settledAt: at, ...change(before, at, random) }
  }
}
