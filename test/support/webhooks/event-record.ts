import type { EventRecord } from '../../../src/webhooks/events/event-record.ts'
import type { OrderState } from '../../../src/webhooks/events/order-state.ts'

/** The announced state of an order that is paid in full. */
function orderState(changes: Partial<OrderState> = {}): OrderState {
  return {
    status: 'PAID',
    payment_status: 'PAID',
    last_payment_id: 'pay_1',
    amount_refunded: 0,
    decline_code: null,
    ...changes,
  }
}

/** The record of a version that announced one event to `acc_1`; `version` is its sequence. */
export function eventRecord(
  orderId: string,
  sequence: number,
  changes: Partial<EventRecord> = {},
): EventRecord {
  return {
    orderId,
    version: sequence,
    recordedAt: 10_000,
    before: orderState({ status: 'AWAITING_PAYMENT', payment_status: 'PENDING' }),
    after: orderState(),
    accountIds: ['acc_1'],
    digests: {},
    events: [{ sequence, type: 'order.paid', accountIds: ['acc_1'] }],
    ...changes,
  }
}
