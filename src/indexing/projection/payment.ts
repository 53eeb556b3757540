import {
  compareInstants,
  type ExactInstant,
  toExactInstant,
  toPublicInstantOrNull,
} from '../../lib/instant.ts'
import type { Order } from '../../orders/order.ts'
import { cardBrands } from '../../orders/order-values.ts'
import type { SourcePayment } from './source-order.ts'

type PublicPayment = Order['payment']

const PAID_PART_STATUSES: ReadonlySet<string> = new Set([
  'PAID',
  'PARTIALLY_REFUNDED',
  'REFUNDED',
  'DISPUTED',
])
const KNOWN_BRANDS: ReadonlySet<string> = new Set(cardBrands)

/**
 * The public payment of an order: its last payment by creation instant, then id. The amounts of a
 * split payment are the sums of its paid parts. All else is the last payment's.
 */
export function projectPayment(payments: readonly SourcePayment[]): PublicPayment {
  const last = lastPayment(payments)
  const group = last.split_group ?? null
  const counted =
    group === null
      ? [last]
      : payments.filter((part) => part.split_group === group && PAID_PART_STATUSES.has(part.status))
  const declined = last.status === 'DECLINED'

  return {
    method: group === null ? last.method : 'MULTIPLE',
    status: last.status,
    installments: last.method === 'CREDIT_CARD' ? (last.installments ?? null) : 1,
    amount: last.status === 'TRIAL' ? 0 : total(counted, 'amount'),
    interest_amount: total(counted, 'interest_amount'),
    discount_amount: total(counted, 'discount_amount'),
    fee: total(counted, 'fee'),
    amount_refunded: totalRefunded(counted),
    refunded_at: toPublicInstantOrNull(last.refunded_at),
    decline_code: declined ? (last.decline_code ?? null) : null,
    decline_message: declined ? (last.decline_message ?? null) : null,
    card: projectCard(last),
  }
}

/** The last payment by creation instant, then id, of at least one. */
export function lastPayment(payments: readonly SourcePayment[]): SourcePayment {
  const [first] = payments
  if (first !== undefined && payments.length === 1) return first
  // Each instant is read once: one of megabytes may be among thousands of payments.
  const dated = payments.map((payment) => ({
    payment,
    createdAt: toExactInstant(payment.created_at),
  }))
  return dated.reduce((latest, one) => (isLater(one, latest) ? one : latest)).payment
}

interface DatedPayment {
  payment: SourcePayment
  createdAt: ExactInstant
}

function isLater(one: DatedPayment, other: DatedPayment): boolean {
  const difference = compareInstants(one.createdAt, other.createdAt)
  return difference === 0 ? one.payment.id > other.payment.id : difference > 0
}

type Amount = 'amount' | 'interest_amount' | 'discount_amount' | 'fee'

function total(payments: readonly SourcePayment[], amount: Amount): number {
  return payments.reduce((sum, payment) => sum + payment[amount], 0)
}

function totalRefunded(payments: readonly SourcePayment[]): number | null {
  const refunds = payments.flatMap(({ amount_refunded }) => amount_refunded ?? [])
  return refunds.length === 0 ? null : refunds.reduce((sum, refund) => sum + refund, 0)
}

function projectCard({ method, card }: SourcePayment): PublicPayment['card'] {
  if (method !== 'CREDIT_CARD' || card == null) return null
  const { brand, last4 } = card
  return { brand: brand != null && KNOWN_BRANDS.has(brand) ? brand : null, last4 }
}
