/** What the store may have of a lane that is not in memory. Instants are epoch milliseconds. */
export interface UnreadDeliveries {
  /** Whether the store may have due deliveries. */
  hasDue(): boolean
  /** The store may have due deliveries. */
  markDue(): void
  /** A read begins, which returns all that is due now. */
  clearDue(): void
  /** Deliveries become due then; `null` for none. */
  dueFrom(atMs: number | null): void
  /** When {@link advance} has something to do. */
  dueAt(): number
  advance(nowMs: number): void
  /** The store may have deliveries of this order, which must not be read yet. */
  hide(orderId: string): void
  isHidden(orderId: string): boolean
  /** The hidden deliveries of this order may be read. */
  release(orderId: string): void
  /** The store may have due deliveries, and no order is hidden. */
  reset(): void
}

/** Creates the record of a lane whose store has nothing. */
export function createUnreadDeliveries(): UnreadDeliveries {
  const hidden = new Set<string>()
  let hasDue = false
  let dueAt = Number.POSITIVE_INFINITY

  return {
    hasDue: () => hasDue,
    markDue() {
      hasDue = true
    },
    clearDue() {
      hasDue = false
    },
    dueFrom(atMs) {
      dueAt = Math.min(dueAt, atMs ?? Number.POSITIVE_INFINITY)
    },
    dueAt: () => dueAt,
    advance(nowMs) {
      if (nowMs < dueAt) return
      hasDue = true
      dueAt = Number.POSITIVE_INFINITY
    },
    hide: (orderId) => void hidden.add(orderId),
    isHidden: (orderId) => hidden.has(orderId),
    release(orderId) {
      if (hidden.delete(orderId)) hasDue = true
    },
    reset() {
      hidden.clear()
      hasDue = true
    },
  }
}
