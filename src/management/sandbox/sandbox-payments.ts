import { feeOf } from '../../demo/payments/charge.ts'
import { lastPayment } from '../../indexing/projection/payment.ts'
import type { SourceOrder, SourcePayment } from '../../indexing/projection/source-order.ts'
import { toEpochMs } from '../../lib/instant.ts'

type Payments = SourceOrder['payments']
type Paid = Pick<SourceOrder, 'payments'>

const DECLINE = { decline_code: 'AB-0051', decline_message: 'Saldo insuficiente' }

/** The latest instant of the payments, epoch milliseconds. */
export function lastInstant({ payments }: Paid): number {
  const instants = payments.flatMap(({ created_at, refunded_at }) => [
    created_at,
    refunded_at ?? [],
  ])
  return Math.max(...instants.flat().map(toEpochMs))
}

/** Ends the pending payment. */
export function settleLast(
  { order, last }: { order: Paid; last: SourcePayment },
  status: 'PAID' | 'UNPAID',
): Payments {
  return order.payments.map((payment) => (payment === last ? { ...payment, status } : payment))
}

/**
 * Adds a payment like the last one. A charge of a plan after the first paid one has the price of
 * its items, because a coupon applies once.
 */
export function append(order: SourceOrder, status: 'PAID' | 'DECLINED', at: string): Payments {
  const { id: _id, ...last } = lastPayment(order.payments)
  const { decline_code, decline_message, amount_refunded, refunded_at, ...terms } = last
  const price = order.items.reduce(
    (sum, { unit_price, quantity }) => sum + unit_price * quantity,
    0,
  )
  const isFirst = !order.payments.some(isCharged)
  const isRetry = isFirst && last.status !== 'TRIAL'
  const amounts = isRetry
    ? {}
    : { amount: price, interest_amount: 0, discount_amount: 0, fee: feeOf(price) }
  const payment: SourcePayment = {
    id: `pay_${order.id.slice('ord_'.length)}_${String(order.payments.length + 1).padStart(2, '0')}`,
    ...terms,
    created_at: at,
    status,
    ...amounts,
    ...(status === 'DECLINED' && DECLINE),
  }
  return [...order.payments, payment]
}

/** Returns every charged payment in full. */
export function refund({ payments }: Paid, at: string): Payments {
  return payments.map((payment) =>
    isCharged(payment)
      ? { ...payment, status: 'REFUNDED', amount_refunded: payment.amount, refunded_at: at }
      : payment,
  )
}

/** A chargeback on every charged payment. */
export function dispute({ payments }: Paid): Payments {
  return payments.map((payment) =>
    isCharged(payment) ? { ...payment, status: 'DISPUTED' } : payment,
  )
}

/** Ends the chargeback: the payments are as before it. */
export function win({ payments }: Paid): Payments {
  return payments.map((payment) => {
    if (payment.status !== 'DISPUTED') return payment
    return { ...payment, status: payment.amount_refunded ? 'PARTIALLY_REFUNDED' : 'PAID' }
  })
}

const isCharged = ({ status }: SourcePayment) =>
  status === 'PAID' || status === 'PARTIALLY_REFUNDED'
