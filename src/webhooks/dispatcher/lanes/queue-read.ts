import type { StoredDelivery } from '../../deliveries/delivery.ts'
import type { AttemptsInProgress } from './attempts-in-progress.ts'
import type { FailingOrders } from './failing-orders.ts'
import type { LaneBuffer } from './lane-buffer.ts'
import type { ReadProgress } from './read-progress.ts'
import type { UnreadDeliveries } from './unread-deliveries.ts'

/** A read of the store. After a reset of the queue, its results are dropped. */
export interface QueueRead {
  /** Whether the failing deliveries must be loaded first. */
  needsFailing: boolean
  addFailing(rows: readonly StoredDelivery[], nowMs: number): void
  /** What the next page must not contain. */
  exclusions(): { excludedOrders: readonly string[]; excludedIds: readonly string[] }
  addDue(rows: readonly StoredDelivery[]): void
  /** Ends a read that returned all due deliveries. `nextAt`: of the first pending one. */
  complete(nextAt: number | null, nowMs: number): void
  /** Ends a read after which more may be due. */
  end(): void
}

/** The parts of a lane's queue that a read changes. */
export interface QueueReadParts {
  buffer: LaneBuffer
  failing: FailingOrders
  attempts: AttemptsInProgress
  unread: UnreadDeliveries
  reading: ReadProgress
  /** Whether an earlier delivery of its order is in progress or failing. */
  isBlocked(row: StoredDelivery): boolean
  /** Adds a failing delivery, for which later ones of its order wait. */
  block(delivery: StoredDelivery, orderId: string, nowMs: number): void
  /** Leaves blocked deliveries of the buffer to a later read. */
  dropBlocked(): void
}

/** The store is read again after this time when its first pending row waits for another. */
const RECHECK_MS = 1_000

/** Starts a read. Deliveries offered until its end are read later. */
export function beginQueueRead({
  buffer,
  failing,
  attempts,
  unread,
  reading,
  isBlocked,
  block,
  dropBlocked,
}: QueueReadParts): QueueRead {
  unread.clearDue()
  const isCurrent = reading.begin()
  return {
    needsFailing: reading.needsFailing(),
    addFailing(rows, nowMs) {
      if (!isCurrent()) return
      for (const row of rows) {
        const { orderId } = row.event
        if (orderId !== null && !isBlocked(row)) block(row, orderId, nowMs)
      }
      reading.recordFailingLoaded()
    },
    exclusions() {
      dropBlocked()
      const excludedOrders = [...new Set([...attempts.orderIds(), ...failing.orderIds()])]
      for (const orderId of excludedOrders) unread.hide(orderId)
      return { excludedOrders, excludedIds: [...attempts.ids(), ...buffer.ids()] }
    },
    addDue(rows) {
      reading.recordReturned()
      if (!isCurrent()) return
      const known = new Set([...attempts.ids(), ...buffer.ids()])
      const inOrder = rows.filter((row) => !reading.followsDropped(row))
      if (inOrder.length < rows.length) unread.markDue()
      buffer.add(inOrder.filter(({ id }) => !known.has(id)))
      dropBlocked()
    },
    complete(nextAt, nowMs) {
      reading.end()
      if (!isCurrent() || nextAt === null) return
      unread.dueFrom(nextAt <= nowMs ? nowMs + RECHECK_MS : nextAt)
    },
    end() {
      reading.end()
      unread.markDue()
    },
  }
}
