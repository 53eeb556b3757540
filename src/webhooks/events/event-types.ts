/**
 * The types of the events that a write announces, in the order of the documentation. The writer
 * numbers the events of one change in this order too, so a new type goes where its event belongs.
 */
export const eventTypes = [
  'order.created',
  'order.awaiting_payment',
  'order.paid',
  'order.unpaid',
  'order.canceled',
  'order.refunded',
  'order.disputed',
  'order.dispute_won',
  'order.trial_started',
  'order.payment_declined',
  'order.payment_expired',
  'order.payment_received',
  'order.partially_refunded',
  'order.updated',
  'order.removed',
] as const

export type EventType = (typeof eventTypes)[number]

/** The type of the event that `webhooks test` sends; it concerns no order. */
export const TEST_EVENT = 'webhook.test'

/** The type of a delivered event. */
export type DeliveredType = EventType | typeof TEST_EVENT
