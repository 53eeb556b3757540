import type {
  Attempt,
  DeliveredEvent,
  Delivery,
} from '../../../src/webhooks/deliveries/delivery.ts'
import type { AccountEvent } from '../../../src/webhooks/events/event-record.ts'

/** The event of an order that was paid; `id` follows from order and sequence. */
export function paidEvent(changes: Partial<AccountEvent> = {}): AccountEvent {
  const { accountId = 'acc_1', orderId = 'ord_1', sequence = 1 } = changes
  return {
    id: `evt_${accountId}_${orderId}_${sequence}`,
    type: 'order.paid',
    accountId,
    orderId,
    sequence,
    recordedAt: 10_000,
    change: { status: ['AWAITING_PAYMENT', 'PAID'], amount_refunded: [null, 0] },
    ...changes,
  }
}

/** The event of `webhooks test`. */
export function testEvent(id = 'evt_test'): DeliveredEvent {
  const { accountId, recordedAt } = paidEvent()
  const type = 'webhook.test'
  return { id, type, accountId, orderId: null, sequence: null, recordedAt, change: {} }
}

/** A failed attempt with an excerpt. */
export function attempt(changes: Partial<Attempt> = {}): Attempt {
  return {
    at: 20_000,
    status: 500,
    error: 'the receiver returned 500',
    durationMs: 12.5,
    bodySha256: 'ab'.repeat(32),
    bodyBytes: 321,
    excerpt: 'out of order "here"\n',
    ...changes,
  }
}

export interface DeliveryChanges extends Partial<Omit<Delivery, 'event'>> {
  /** Changes of the order's event, or an event of its own. */
  event?: Partial<AccountEvent>
}

/** A pending delivery to `we_1`, due at 10,000 ms, of an event of `ord_1`. */
export function delivery({ event, ...changes }: DeliveryChanges = {}): Delivery {
  const { endpointId = 'we_1' } = changes
  return deliveryOf(paidEvent(event), { endpointId, ...changes })
}

/** A pending delivery of an event, due at 10,000 ms. */
export function deliveryOf(event: DeliveredEvent, changes: Partial<Delivery> = {}): Delivery {
  const { endpointId = 'we_1' } = changes
  return {
    id: `dlv_${endpointId}_${event.id}`,
    endpointId,
    accountId: event.accountId,
    event,
    state: 'pending',
    nextAt: 10_000,
    attempts: [],
    step: 0,
    firstFailedAt: null,
    heldAt: null,
    ...changes,
  }
}
