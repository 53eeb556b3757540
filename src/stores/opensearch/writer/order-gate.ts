/** Work on some orders, which begins once what was begun before on any of them has ended. */
export interface OrderWork {
  /** Waits for that. All at once: what is asked for again has been waited for. */
  enter(orderIds: readonly string[]): Promise<void>
  /** The work has ended, however. */
  leave(): void
}

export interface OrderGate {
  begin(): OrderWork
}

/** Keeps apart what several pieces of work do to one order; on different orders they go on together. */
export function createOrderGate(): OrderGate {
  /** The end of the work that was begun last on each order. */
  const lastEnds = new Map<string, Promise<void>>()

  return {
    begin() {
      const entered = new Set<string>()
      const { promise: end, resolve } = Promise.withResolvers<void>()
      return {
        async enter(orderIds) {
          const before = new Set<Promise<void>>()
          for (const orderId of orderIds) {
            if (entered.has(orderId)) continue
            const last = lastEnds.get(orderId)
            if (last !== undefined) before.add(last)
            lastEnds.set(orderId, end)
            entered.add(orderId)
          }
          await Promise.all(before)
        },
        leave() {
          for (const orderId of entered) {
            if (lastEnds.get(orderId) === end) lastEnds.delete(orderId)
          }
          resolve()
        },
      }
    },
  }
}
