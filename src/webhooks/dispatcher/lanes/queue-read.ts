import type { StoredDelivery } from '../../deliveries/delivery.ts'
import type { OrderTurns, QueueParts } from './order-turns.ts'

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

/** The store is read again after this time when its first pending row waits for another. */
const RECHECK_MS = 1_000

/** Starts a read. Deliveries offered until its end are read later. */
export function beginQueueRead(
  { buffer, failing, attempts, unread, reading }: QueueParts,
  turns: OrderTurns,
): QueueRead {
  unread.clearDue()
  const isCurrent = reading.begin()
  return {
    needsFailing: reading.needsFailing(),
    addFailing(rows, nowMs) {
      if (!isCurrent()) return
      for (const row of rows) {
        const { orderId } = row.event
        const isStale = reading.isSettled(row) || reading.isForgotten(row)
        if (isStale || !failing.isWithinWindow(row, nowMs)) continue
        if (orderId !== null && !turns.isBlocked(row)) turns.block(row, orderId, nowMs)
      }
      reading.recordFailingLoaded()
    },
    exclusions() {
      turns.dropBlocked()
      const excludedOrders = [...new Set([...attempts.orderIds(), ...failing.orderIds()])]
      for (const orderId of excludedOrders) unread.hide(orderId)
      return { excludedOrders, excludedIds: [...attempts.ids(), ...buffer.ids()] }
    },
    addDue(rows) {
      reading.recordReturned()
      if (!isCurrent()) return
      const known = new Set([...attempts.ids(), ...buffer.ids()])
      const isOutdated = (row: StoredDelivery) =>
        reading.followsDropped(row) || reading.isForgotten(row)
      const current = rows.filter((row) => !isOutdated(row))
      if (current.length < rows.length) unread.markDue()
      buffer.add(current.filter(({ id }) => !known.has(id)))
      turns.dropBlocked()
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
