import type { Order } from '../../orders/order.ts'

/** The part of an order whose changes events announce; `change` in a webhook's body has these keys. */
export interface OrderState {
  status: Order['status']
  payment_status: Order['payment']['status']
  last_payment_id: string | null
  amount_refunded: number | null
  decline_code: string | null
}

/** Each announced key that differs, with its values before and after. */
export type StateChange = {
  [K in keyof OrderState]?: readonly [before: OrderState[K] | null, after: OrderState[K] | null]
}

const KEYS = [
  'status',
  'payment_status',
  'last_payment_id',
  'amount_refunded',
  'decline_code',
] as const satisfies readonly (keyof OrderState)[]

/** The state of an order, as its views show it. */
export function stateOf(order: Order, lastPaymentId: string | null): OrderState {
  return {
    status: order.status,
    payment_status: order.payment.status,
    last_payment_id: lastPaymentId,
    amount_refunded: order.payment.amount_refunded,
    decline_code: order.payment.decline_code,
  }
}

/** The difference of two states; `null` before an account's first view. */
export function diffStates(before: OrderState | null, after: OrderState): StateChange {
  const differing = KEYS.filter((key) => (before?.[key] ?? null) !== after[key])
  return Object.fromEntries(differing.map((key) => [key, [before?.[key] ?? null, after[key]]]))
}
