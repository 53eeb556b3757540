import type { SourceOrder, SourcePayment } from '../../indexing/projection/source-order.ts'
import { formatInstant } from '../../lib/instant.ts'
import type { Cart } from '../checkout/cart.ts'
import type { Random } from '../random.ts'
import type { Decline } from './cards.ts'

export type Method = SourcePayment['method']

/** What the buyer brings to the checkout: the start of every history. Instants in epoch ms. */
export interface Checkout {
  random: Random
  /** The order's id without its prefix; payments are named after it. */
  suffix: string
  cart: Cart
  card: NonNullable<SourcePayment['card']>
  createdAt: number
  until: number
}

/** What became of an order. Amounts in cents, instants in epoch ms. */
export interface OrderOutcome {
  status: SourceOrder['status']
  payments: SourcePayment[]
  amountTotal: number
  paidAt: number | null
  canceledAt: number | null
  /** When the last thing happened to the order. */
  settledAt: number
}

/** How an order went on from its checkout. */
export type PaymentFlow = (checkout: Checkout) => OrderOutcome

/** The amount due before interest and what was taken off it, in cents. */
export interface Quote {
  amount: number
  discount: number
}

interface Charge {
  method: Method
  status: SourcePayment['status']
  /** The place of the payment in the order, from 1. */
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

/** What the cart costs by a method of payment. */
export function quoteFor(cart: Cart, method: Method): Quote {
  const discount = cart.discount + (method === 'PIX' ? cart.pixDiscount : 0)
  return { amount: cart.subtotal - discount, discount }
}

/** One payment of a checkout: by default its first, issued a second after, for the whole cart. */
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
    fee: status === 'TRIAL' ? 0 : Math.round(((amount + interest) * FEE_PERCENT) / 100),
    ...(splitGroup && { split_group: splitGroup }),
    ...(decline && { decline_code: decline.code, decline_message: decline.message }),
    ...(method === 'CREDIT_CARD' && { card: checkout.card }),
  }
}

/** Puts a history together; its total is the last charge's unless another is given. */
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
