import { MINUTE_MS } from '../../../lib/durations.ts'
import type { StoredDelivery } from '../../deliveries/delivery.ts'

/** Later deliveries of an order wait this long after the first failure of an earlier one. */
export const FAILING_WINDOW_MS = 5 * MINUTE_MS
/** Beyond it, the order that has waited longest is released early. Bounds memory. */
export const MAX_FAILING_ORDERS = 1_024
/** After an outage, the failing deliveries of an endpoint go before later ones for this long. */
const RESUME_MS = 30_000

interface FailingOrder {
  delivery: StoredDelivery
  /** When the next attempt is due, epoch milliseconds. */
  retryAt: number
  /** When later deliveries of the order may go, epoch milliseconds. */
  blockedUntil: number
  /** `ready`: due, in the queue of retries. `taken`: its attempt is in progress. */
  phase: 'waiting' | 'ready' | 'taken'
}

/** The orders of one endpoint whose first pending delivery is failing. */
export interface FailingOrders {
  has(orderId: string): boolean
  size(): number
  /** When {@link FailingOrders.advance} has something to do, epoch milliseconds. */
  nextChangeAt(): number
  orderIds(): Iterable<string>
  /** Whether the delivery still blocks its order. */
  isWithinWindow(delivery: StoredDelivery, nowMs: number): boolean
  /** Returns the orders that are released to make room, with their deliveries. */
  add(delivery: StoredDelivery, orderId: string, nowMs: number): Released
  delete(orderId: string): void
  /** The next retry that is due; `null` without one. */
  takeReady(): StoredDelivery | null
  hasReady(): boolean
  /** The delivery that has failed longest, due or not. */
  takeAny(): StoredDelivery | null
  /** Whether {@link FailingOrders.takeAny} returns a delivery. */
  hasAny(): boolean
  /** Returns a taken delivery that was not sent; false when it is none of these. */
  putBack(orderId: string): boolean
  /** Queues due retries, and returns the orders whose window has passed. */
  advance(nowMs: number): Released
  /** Takes back what is queued. */
  unqueue(): void
  /** Queues everything, whether due or not. */
  queueAll(nowMs: number): void
  /** Drops all but queued retries. */
  keepReady(): void
  clear(): void
}

type Released = [orderId: string, delivery: StoredDelivery][]

/** Creates an empty set. */
export function createFailingOrders(): FailingOrders {
  const orders = new Map<string, FailingOrder>()
  const ready = new Set<string>()
  /** No order is due, and no window passes, before this instant. */
  let nextChangeAt = Number.POSITIVE_INFINITY

  const scheduleChange = ({ retryAt, blockedUntil }: FailingOrder) => {
    nextChangeAt = Math.min(nextChangeAt, retryAt, blockedUntil)
  }

  function take(orderId: string, order: FailingOrder): StoredDelivery {
    ready.delete(orderId)
    order.phase = 'taken'
    return order.delivery
  }

  function firstNotTaken(): [string, FailingOrder] | undefined {
    for (const entry of orders) if (entry[1].phase !== 'taken') return entry
    return
  }

  function remove(orderId: string): void {
    ready.delete(orderId)
    orders.delete(orderId)
  }

  function releaseWaiting(isReleased: (order: FailingOrder) => boolean): Released {
    const released: Released = []
    for (const [orderId, order] of orders) {
      if (order.phase !== 'waiting' || !isReleased(order)) continue
      orders.delete(orderId)
      released.push([orderId, order.delivery])
    }
    return released
  }

  return {
    has: (orderId) => orders.has(orderId),
    size: () => orders.size,
    nextChangeAt: () => nextChangeAt,
    orderIds: () => orders.keys(),
    isWithinWindow: ({ firstFailedAt }, nowMs) =>
      firstFailedAt !== null && nowMs < firstFailedAt + FAILING_WINDOW_MS,
    add(delivery, orderId, nowMs) {
      const order: FailingOrder = {
        delivery,
        retryAt: delivery.nextAt ?? nowMs,
        // The clock of an earlier dispatcher may have been ahead.
        blockedUntil: Math.min(delivery.firstFailedAt ?? nowMs, nowMs) + FAILING_WINDOW_MS,
        phase: 'waiting',
      }
      orders.set(orderId, order)
      scheduleChange(order)
      let excess = orders.size - MAX_FAILING_ORDERS
      return excess <= 0 ? [] : releaseWaiting(() => excess-- > 0)
    },
    delete: remove,
    hasReady: () => ready.size > 0,
    takeReady() {
      const [orderId] = ready
      const order = orderId === undefined ? undefined : orders.get(orderId)
      return orderId === undefined || order === undefined ? null : take(orderId, order)
    },
    takeAny() {
      const entry = firstNotTaken()
      return entry === undefined ? null : take(...entry)
    },
    hasAny: () => firstNotTaken() !== undefined,
    putBack(orderId) {
      const order = orders.get(orderId)
      if (order?.phase !== 'taken') return false
      order.phase = 'waiting'
      scheduleChange(order)
      return true
    },
    advance(nowMs) {
      if (nowMs < nextChangeAt) return []
      nextChangeAt = Number.POSITIVE_INFINITY
      for (const [orderId, order] of orders) {
        if (order.phase !== 'waiting' || order.retryAt > nowMs) continue
        order.phase = 'ready'
        ready.add(orderId)
      }
      const released = releaseWaiting(({ blockedUntil }) => blockedUntil <= nowMs)
      for (const order of orders.values()) if (order.phase === 'waiting') scheduleChange(order)
      return released
    },
    unqueue() {
      for (const orderId of ready) {
        const order = orders.get(orderId)
        if (order === undefined) continue
        order.phase = 'waiting'
        scheduleChange(order)
      }
      ready.clear()
    },
    queueAll(nowMs) {
      for (const [orderId, order] of orders) {
        order.blockedUntil = Math.max(order.blockedUntil, nowMs + RESUME_MS)
        if (order.phase !== 'waiting') continue
        order.phase = 'ready'
        ready.add(orderId)
      }
    },
    keepReady() {
      for (const orderId of orders.keys()) if (!ready.has(orderId)) orders.delete(orderId)
      nextChangeAt = Number.POSITIVE_INFINITY
    },
    clear() {
      orders.clear()
      ready.clear()
      nextChangeAt = Number.POSITIVE_INFINITY
    },
  }
}
