import type { StoredDelivery } from '../../deliveries/delivery.ts'

/** The attempts of one lane that are in progress, or whose results are not stored. */
export interface AttemptsInProgress {
  /** Adds a delivery, and returns it. */
  start(delivery: StoredDelivery): StoredDelivery
  finish(delivery: StoredDelivery): void
  hasOrder(orderId: string): boolean
  /** Marks the attempts for an order that the account no longer has. */
  forget(orderId: string): void
  isForgotten(delivery: StoredDelivery): boolean
  count(): number
  ids(): Iterable<string>
  orderIds(): Iterable<string>
}

/** Creates an empty set. */
export function createAttemptsInProgress(): AttemptsInProgress {
  const ids = new Set<string>()
  const orderIds = new Set<string>()
  const forgotten = new Set<string>()

  return {
    start(delivery) {
      ids.add(delivery.id)
      if (delivery.event.orderId !== null) orderIds.add(delivery.event.orderId)
      return delivery
    },
    finish({ id, event }) {
      ids.delete(id)
      if (event.orderId === null) return
      orderIds.delete(event.orderId)
      forgotten.delete(event.orderId)
    },
    hasOrder: (orderId) => orderIds.has(orderId),
    forget(orderId) {
      if (orderIds.has(orderId)) forgotten.add(orderId)
    },
    isForgotten: ({ event: { orderId } }) => orderId !== null && forgotten.has(orderId),
    count: () => ids.size,
    ids: () => ids,
    orderIds: () => orderIds,
  }
}
