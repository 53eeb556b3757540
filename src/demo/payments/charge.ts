import type { SourceOrder, SourcePayment } from '../../indexing/projection/source-order.ts'
import { SECOND_MS } from '../../lib/durations.ts'
import { formatInstant } from '../../lib/instant.ts'
import type { Cart } from '../checkout/cart.ts'
import type { Random } from '../random.ts'
import type { Decline } from './cards.ts'

/** From a charge to the response of its acquirer. */
export const RESPONSE_MS = 4 * SECOND_MS

export type Method = SourcePayment['method']

/** The checkout that starts every payment history. Timestamps are epoch ms. */
export interface Checkout {
  random: Random
  /** The id of the order without its prefix, part of the payment ids. */
  suffix: string
  cart: Cart
  card: NonNullable<SourcePayment['card']>
  createdAt: number
  until: number
}

/** The result of a payment history. Amounts in cents, timestamps in epoch ms. */
export interface OrderOutcome {
  status: SourceOrder['status']
  payments: SourcePayment[]
  amountTotal: number
  paidAt: number | null
  canceledAt: number | null
  /** Time of the last event of the order. */
  settledAt: number
}

/** Derives the payment history of a checkout. */
export type PaymentFlow = (checkout: Checkout) => OrderOutcome

/** The amount due before interest, and its discounts, in cents. */
export interface Quote {
  amount: number
  discount: number
}

interface Charge {
  method: Method
  status: SourcePayment['status']
  /** Number of the payment in the order, from 1. */
  number?: number
  at?: number
  quote?: Quote
  installments?: number
  withInterest?: boolean
  decline?: Decline
  splitGroup?: string
}

const INTEREST_PERCENT_PER_INSTALLMENT = 1.99
const FEE_PERCENT = 6.99
const ISSUE_MS = 1_000

/** The price of the cart by payment method. */
export function quoteFor(cart: Cart, method: Method): Quote {
  const discount = cart.discount + (method === 'PIX' ? cart.pixDiscount : 0)
  return { amount: cart.subtotal - discount, discount }
}

/** A payment of a checkout. Default: the first one, issued after a second, for the whole cart. */
export function charge(checkout: Checkout, details: Charge): SourcePayment {
  const { method, status, decline, splitGroup, number = 1, installments = 1 } = details
  const { amount, discount } = details.quote ?? quoteFor(checkout.cart, method)
  const interest = details.withInterest ? interestOf(amount, installments) : 0
  return {
    id: `pay_${checkout.suffix}_${String(number).padStart(2, '0')}`,
    created_at: formatInstant(details.at ?? checkout.createdAt + ISSUE_MS),
    method,
    status,
    installments,
    amount: amount + interest,
    interest_amount: interest,
    discount_amount: discount,
    fee: status === 'TRIAL' ? 0 : feeOf(amount + interest),
    ...(splitGroup && { split_group: splitGroup }),
    ...(decline && { decline_code: decline.code, decline_message: decline.message }),
    ...(method === 'CREDIT_CARD' && { card: checkout.card }),
  }
}

/** The platform's fee on an amount, in cents. */
export function feeOf(amount: number): number {
  return Math.round((amount * FEE_PERCENT) / 100)
}

/** Builds a payment history. Its total defaults to that of the last charge. */
export function outcomeOf(
  status: OrderOutcome['status'],
  payments: SourcePayment[],
  rest: Pick<OrderOutcome, 'settledAt'> & Partial<OrderOutcome>,
): OrderOutcome {
  const amountTotal = payments.at(-1)?.amount ?? 0
  return { status, payments, amountTotal, paidAt: null, canceledAt: null, ...rest }
}

function interestOf(amount: number, installments: number): number {
  return Math.round((amount * INTEREST_PERCENT_PER_INSTALLMENT * (installments - 1)) / 100)
}
