import type { StoredDelivery } from '../../deliveries/delivery.ts'
import { createAttemptsInProgress } from './attempts-in-progress.ts'
import { createFailingOrders } from './failing-orders.ts'
import { type BufferUse, createLaneBuffer, isFull } from './lane-buffer.ts'
import { createOrderTurns } from './order-turns.ts'
import { beginQueueRead, type QueueRead } from './queue-read.ts'
import { createReadProgress } from './read-progress.ts'
import { createUnreadDeliveries } from './unread-deliveries.ts'

/**
 * The due deliveries of one endpoint that are in memory. Per order one delivery is in progress;
 * after its failure, later ones of the order wait for at most five minutes. Different orders never
 * wait for each other. All instants are epoch milliseconds.
 */
export interface LaneQueue {
  /** Whether {@link take} returns a delivery. */
  hasReady(): boolean
  /** The number of buffered deliveries, those that wait for their order included. */
  size(): number
  /** Takes the next delivery; its order waits until {@link settle} or {@link putBack}. */
  take(): StoredDelivery | null
  /** Takes the delivery that has failed longest, due or not, for a probe. */
  takeFailing(): StoredDelivery | null
  /** Whether {@link takeFailing} returns a delivery. */
  hasFailing(): boolean
  /** Returns a delivery that was not sent. */
  putBack(delivery: StoredDelivery): void
  /** Ends an attempt. `saved`: the delivery as it is stored now; `null` when it was removed. */
  settle(taken: StoredDelivery, saved: StoredDelivery | null, nowMs: number): void
  /** The number of reads so far that may have added deliveries. */
  reads(): number
  /**
   * Adds a delivery that was just created, unless an earlier one may be in the store alone.
   * `readsBefore`: the reads before its creation. A later one may have added it already, and it may
   * even be delivered since.
   */
  offer(delivery: StoredDelivery, capacity: number, readsBefore: number): void
  /** Keeps the first deliveries of the buffer, and leaves the others to a later read. */
  trim(capacity: number): void
  /** Ends the wait for an order that the account no longer has. */
  forget(orderId: string): void
  /**
   * Whether the order of a taken delivery was forgotten since: it may be back, with another event.
   */
  isForgotten(delivery: StoredDelivery): boolean
  /** When {@link advance} has something to do. */
  wakeAt(): number
  /** Moves what is due from waiting to ready. */
  advance(nowMs: number): void
  /** The breaker opened: drops what is buffered, and keeps the failing deliveries. */
  suspend(): void
  /** The breaker closed: retries the failing deliveries at once, before all others. */
  resume(nowMs: number): void
  /**
   * The endpoint changed: drops what the store may have changed. Retries that are due stay: after
   * an outage the store has them as due later.
   */
  reread(): void
  /** The endpoint was stopped: drops everything but the attempts in progress. */
  reset(): void
  /** Whether the store may have due deliveries that are not here. */
  hasMore(): boolean
  /** Reads from the store at this instant. */
  readAt(atMs: number): void
  /** After a restart: failing deliveries are in the store, and the first one is due then. */
  expect(atMs: number): void
  /** Starts a read of the store, one at a time. Deliveries offered until its end are read later. */
  beginRead(): QueueRead
  /** Whether attempts are in progress, or their results not stored. */
  isBusy(): boolean
  /** Whether nothing is buffered, failing, in progress or due later. */
  isEmpty(): boolean
}

/** Creates the queue of an endpoint that has no pending delivery. */
export function createLaneQueue(bufferUse: BufferUse): LaneQueue {
  const failing = createFailingOrders()
  const attempts = createAttemptsInProgress()
  const unread = createUnreadDeliveries()
  const reading = createReadProgress()
  const buffer = createLaneBuffer(bufferUse, reading.drop)
  const parts = { buffer, failing, attempts, unread, reading }
  const turns = createOrderTurns(parts)
  let isSuspended = false

  const isFree = (row: StoredDelivery) => !turns.isBlocked(row)

  /** Whether an earlier delivery may be in the store alone. */
  const isIncomplete = () =>
    unread.hasDue() || reading.isReading() || isSuspended || reading.needsFailing()

  function settlePending(saved: StoredDelivery, nowMs: number): void {
    const { orderId } = saved.event
    // While the breaker is open only probes are sent, and later ones of the order are none.
    if (orderId !== null && (isSuspended || failing.isWithinWindow(saved, nowMs))) {
      turns.block(saved, orderId, nowMs)
      return
    }
    unread.dueFrom(saved.nextAt)
    if (orderId !== null) unread.release(orderId)
  }

  function reread(): void {
    reading.invalidate()
    buffer.keep(() => false)
    failing.keepReady()
    reading.requireFailing()
    unread.reset()
  }

  return {
    hasReady: () => !reading.needsFailing() && (failing.hasReady() || buffer.hasAny(isFree)),
    size: buffer.size,
    take() {
      if (reading.needsFailing()) return null
      const row = failing.takeReady() ?? buffer.take(isFree)
      return row && attempts.start(row)
    },
    takeFailing() {
      const delivery = failing.takeAny()
      return delivery && attempts.start(delivery)
    },
    hasFailing: failing.hasAny,
    putBack(delivery) {
      attempts.finish(delivery)
      const { orderId } = delivery.event
      if (orderId !== null && failing.putBack(orderId)) return
      // A reset forgot that it fails, and its later deliveries are due before it.
      if (delivery.firstFailedAt !== null) reading.requireFailing()
      reading.drop(delivery)
      // Its later deliveries leave the buffer too, so that the next read returns them in order.
      buffer.keep((row) => orderId === null || row.event.orderId !== orderId)
      if (orderId !== null) unread.release(orderId)
      unread.markDue()
    },
    settle(taken, saved, nowMs) {
      // Its order may have been removed after the result was stored, which canceled the delivery.
      const isOutdated = attempts.isForgotten(taken)
      attempts.finish(taken)
      reading.settle(taken)
      const { orderId } = taken.event
      if (orderId !== null) failing.delete(orderId)
      if (saved?.state === 'pending' && !isOutdated) {
        settlePending(saved, nowMs)
        return
      }
      if (saved === null || isOutdated) unread.markDue()
      if (orderId !== null) unread.release(orderId)
    },
    reads: reading.count,
    offer(delivery, capacity, readsBefore) {
      const { orderId } = delivery.event
      const mayBeHidden = orderId !== null && (failing.has(orderId) || unread.isHidden(orderId))
      const hasNoRoom = buffer.size() >= capacity || isFull(bufferUse)
      if (mayBeHidden) unread.hide(orderId)
      else if (readsBefore !== reading.count() || isIncomplete() || hasNoRoom) unread.markDue()
      else buffer.add([delivery])
    },
    trim(capacity) {
      // A read in progress excludes what is buffered, and returns later deliveries of its orders.
      if (reading.isReading() || buffer.size() <= capacity) return
      buffer.truncate(capacity)
      unread.markDue()
    },
    forget(orderId) {
      reading.forget(orderId)
      failing.delete(orderId)
      buffer.keep((row) => row.event.orderId !== orderId)
      attempts.forget(orderId)
      if (!attempts.hasOrder(orderId)) unread.release(orderId)
    },
    isForgotten: attempts.isForgotten,
    wakeAt: () => (isSuspended ? unread.dueAt() : Math.min(unread.dueAt(), failing.nextChangeAt())),
    advance(nowMs) {
      unread.advance(nowMs)
      if (!isSuspended) turns.advance(nowMs)
    },
    suspend() {
      isSuspended = true
      if (buffer.size() > 0 || reading.isReading()) unread.markDue()
      // A read in progress excluded what is dropped here, so it has later events of these orders.
      if (reading.isReading()) reading.invalidate()
      buffer.keep(() => false)
      failing.unqueue()
    },
    resume(nowMs) {
      isSuspended = false
      failing.queueAll(nowMs)
      unread.markDue()
    },
    reread,
    reset() {
      reread()
      failing.clear()
    },
    hasMore: unread.hasDue,
    readAt: unread.dueFrom,
    expect(atMs) {
      reading.requireFailing()
      unread.dueFrom(atMs)
    },
    beginRead: () => beginQueueRead(parts, turns),
    isBusy: () => attempts.count() > 0,
    isEmpty: () =>
      buffer.size() + attempts.count() + failing.size() === 0 &&
      !unread.hasDue() &&
      !reading.isReading() &&
      unread.dueAt() === Number.POSITIVE_INFINITY,
  }
}
