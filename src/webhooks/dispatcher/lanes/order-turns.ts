import type { StoredDelivery } from '../../deliveries/delivery.ts'
import type { AttemptsInProgress } from './attempts-in-progress.ts'
import type { FailingOrders } from './failing-orders.ts'
import type { LaneBuffer } from './lane-buffer.ts'
import type { ReadProgress } from './read-progress.ts'
import type { UnreadDeliveries } from './unread-deliveries.ts'

/** Which deliveries of a lane wait for an earlier one of their order. */
export interface OrderTurns {
  /** Whether an earlier delivery of its order is in progress or failing. */
  isBlocked(row: StoredDelivery): boolean
  /** Adds a failing delivery, for which later ones of its order wait. */
  block(delivery: StoredDelivery, orderId: string, nowMs: number): void
  /**
   * Releases orders whose failing delivery has blocked them long enough, and queues due retries.
   */
  advance(nowMs: number): void
  /** Leaves blocked deliveries of the buffer to a later read. */
  dropBlocked(): void
}

/** The parts of a lane's queue. */
export interface QueueParts {
  buffer: LaneBuffer
  failing: FailingOrders
  attempts: AttemptsInProgress
  unread: UnreadDeliveries
  reading: ReadProgress
}

/** Creates the turns of the deliveries in these parts. */
export function createOrderTurns({
  buffer,
  failing,
  attempts,
  unread,
}: Omit<QueueParts, 'reading'>): OrderTurns {
  function isBlocked({ event: { orderId } }: StoredDelivery): boolean {
    return orderId !== null && (attempts.hasOrder(orderId) || failing.has(orderId))
  }

  /** Blocked deliveries would fill the buffer, so they stay in the store until their turn. */
  function dropBlocked(): void {
    buffer.keep((row) => {
      const { orderId } = row.event
      if (orderId === null || !isBlocked(row)) return true
      unread.hide(orderId)
      return false
    })
  }

  function release(orders: readonly (readonly [string, StoredDelivery])[]): void {
    for (const [orderId, { nextAt }] of orders) {
      unread.dueFrom(nextAt)
      unread.release(orderId)
    }
  }

  return {
    isBlocked,
    block(delivery, orderId, nowMs) {
      release(failing.add(delivery, orderId, nowMs))
      dropBlocked()
    },
    advance(nowMs) {
      release(failing.advance(nowMs))
    },
    dropBlocked,
  }
}
