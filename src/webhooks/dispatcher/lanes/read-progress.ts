import type { StoredDelivery } from '../../deliveries/delivery.ts'

/** The reads of one lane, one at a time, and what happened in memory during the present one. */
export interface ReadProgress {
  isReading(): boolean
  /** The reads so far that returned deliveries. */
  count(): number
  /** Starts a read. The returned function returns whether its results still apply. */
  begin(): () => boolean
  /** The present read returned deliveries. */
  recordReturned(): void
  end(): void
  /** Whether the next read must load the failing deliveries first. */
  needsFailing(): boolean
  requireFailing(): void
  /** The present read loaded the failing deliveries. */
  recordFailingLoaded(): void
  /** The results of the present read no longer apply. */
  invalidate(): void
  /**
   * A delivery left the buffer unsent. The present read excluded it, and may return later ones of
   * its order.
   */
  drop(delivery: StoredDelivery): void
  /** Whether an earlier delivery of its order was dropped during the present read. */
  followsDropped(delivery: StoredDelivery): boolean
  /** The deliveries of this order were canceled. The present read may return them as they were. */
  forget(orderId: string): void
  /** Whether the delivery's order was forgotten during the present read. */
  isForgotten(delivery: StoredDelivery): boolean
  /** An attempt was stored. The present read may return the delivery as it was before. */
  settle(delivery: StoredDelivery): void
  /** Whether an attempt of the delivery was stored during the present read. */
  isSettled(delivery: StoredDelivery): boolean
}

/** Creates the progress of a lane without a read. */
export function createReadProgress(): ReadProgress {
  const droppedOrders = new Set<string>()
  const forgottenOrders = new Set<string>()
  const settledIds = new Set<string>()
  let isReading = false
  let count = 0
  let invalidations = 0
  let needsFailing = false

  return {
    isReading: () => isReading,
    count: () => count,
    begin() {
      const startedIn = invalidations
      isReading = true
      droppedOrders.clear()
      forgottenOrders.clear()
      settledIds.clear()
      return () => startedIn === invalidations
    },
    recordReturned() {
      count += 1
    },
    end() {
      isReading = false
    },
    needsFailing: () => needsFailing,
    requireFailing() {
      needsFailing = true
    },
    recordFailingLoaded() {
      needsFailing = false
    },
    invalidate() {
      invalidations += 1
    },
    drop({ event: { orderId } }) {
      if (isReading && orderId !== null) droppedOrders.add(orderId)
    },
    forget(orderId) {
      if (isReading) forgottenOrders.add(orderId)
    },
    isForgotten: ({ event: { orderId } }) => orderId !== null && forgottenOrders.has(orderId),
    followsDropped: ({ event: { orderId } }) => orderId !== null && droppedOrders.has(orderId),
    settle({ id }) {
      if (isReading) settledIds.add(id)
    },
    isSettled: ({ id }) => settledIds.has(id),
  }
}
