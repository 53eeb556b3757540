import type { EventType } from './event-types.ts'
import type { OrderState } from './order-state.ts'

/**
 * The events that one version of an order announces to an account: its first view, and those of its
 * status and its payment. Without any of these, the update. The writer numbers them in the order of
 * `eventTypes`. `before`: the last announced state; `null` for the account's first view. Pure.
 */
export function announce(
  before: OrderState | null,
  after: OrderState,
  { isViewChanged }: { isViewChanged: boolean },
): EventType[] {
  const facts: (EventType | null)[] = [
    before === null ? 'order.created' : null,
    statusType(before, after),
    paymentType(before, after),
  ]
  const announced = facts.filter((fact) => fact !== null)
  if (announced.length > 0) return announced
  return isViewChanged ? ['order.updated'] : []
}

/** The type of a status that an order enters. The reserved statuses have none. */
const STATUS_TYPES: Record<OrderState['status'], EventType | null> = {
  AWAITING_PAYMENT: 'order.awaiting_payment',
  UNPAID: 'order.unpaid',
  PAID: 'order.paid',
  CANCELED: 'order.canceled',
  SHIPPED: null,
  DELIVERED: null,
  REFUNDED: 'order.refunded',
  DISPUTED: 'order.disputed',
  TRIAL: 'order.trial_started',
}

function statusType(before: OrderState | null, { status }: OrderState): EventType | null {
  if (before?.status === status) return null
  if (before?.status === 'DISPUTED' && status === 'PAID') return 'order.dispute_won'
  return STATUS_TYPES[status]
}

function paymentType(before: OrderState | null, after: OrderState): EventType | null {
  const isNewPayment = before?.last_payment_id !== after.last_payment_id
  const isNewStatus = isNewPayment || before?.payment_status !== after.payment_status
  if (isNewStatus && after.payment_status === 'DECLINED') return 'order.payment_declined'
  if (isNewStatus && after.payment_status === 'UNPAID') return 'order.payment_expired'
  if (isReceivedWhilePaid(before, after, isNewPayment)) return 'order.payment_received'
  return isPartialRefund(before, after, isNewPayment) ? 'order.partially_refunded' : null
}

/** Statuses of a payment that was not paid yet. */
const OPEN_STATUSES: readonly string[] = ['PENDING', 'FAILED', 'DECLINED', 'UNPAID', 'TRIAL']

/** A renewal or an instalment; the first payment of an order changes its status. */
function isReceivedWhilePaid(
  before: OrderState | null,
  after: OrderState,
  isNewPayment: boolean,
): boolean {
  if (before?.status !== 'PAID' || after.status !== 'PAID') return false
  if (after.payment_status !== 'PAID') return false
  return isNewPayment || OPEN_STATUSES.includes(before.payment_status)
}

/** A total refund changes the status instead, and the parts of a canceled split payment too. */
function isPartialRefund(
  before: OrderState | null,
  after: OrderState,
  isNewPayment: boolean,
): boolean {
  const isPartial = after.payment_status === 'PARTIALLY_REFUNDED'
  if (after.status !== 'PAID' && !isPartial) return false
  if (isNewPayment) return isPartial
  return (after.amount_refunded ?? 0) > (before?.amount_refunded ?? 0)
}
