import type { Order } from '../../orders/order.ts'

/**
 * The part of an order whose changes events announce, as its views show it. The body of a webhook
 * has these keys in `change`. An added key is absent in a state that an earlier release recorded.
 */
export function stateOf(order: Order, lastPaymentId: string | null) {
  return {
    status: order.status,
    payment_status: order.payment.status,
    last_payment_id: lastPaymentId,
    amount_refunded: order.payment.amount_refunded,
    decline_code: order.payment.decline_code,
  }
}

export type OrderState = ReturnType<typeof stateOf>

/** Each announced key that differs, with its values before and after. */
export type StateChange = {
  [K in keyof OrderState]?: readonly [before: OrderState[K] | null, after: OrderState[K] | null]
}

/** The difference of two states; `null` before an account's first view. */
export function diffStates(before: OrderState | null, after: OrderState): StateChange {
  const keys = Object.keys(after) as (keyof OrderState)[]
  const differing = keys.filter((key) => (before?.[key] ?? null) !== after[key])
  return Object.fromEntries(differing.map((key) => [key, [before?.[key] ?? null, after[key]]]))
}
