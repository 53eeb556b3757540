/** Work on some orders, which begins once what was begun before on any of them has ended. */
export interface LockSession {
  /** Waits for that. All at once: what is asked for again has been waited for. */
  acquire(keys: readonly string[]): Promise<void>
  /** The work has ended, however. */
  release(): void
}

export interface KeyedLock {
  openSession(): LockSession
}

/** Keeps apart what several pieces of work do to one order; on different orders they go on together. */
export function createKeyedLock(): KeyedLock {
  /** The end of the work that was begun last on each order. */
  const lastReleases = new Map<string, Promise<void>>()

  return {
    openSession() {
      const held = new Set<string>()
      const { promise: released, resolve } = Promise.withResolvers<void>()
      return {
        async acquire(keys) {
          const predecessors = new Set<Promise<void>>()
          for (const key of keys) {
            if (held.has(key)) continue
            const last = lastReleases.get(key)
            if (last !== undefined) predecessors.add(last)
            lastReleases.set(key, released)
            held.add(key)
          }
          await Promise.all(predecessors)
        },
        release() {
          for (const key of held) {
            if (lastReleases.get(key) === released) lastReleases.delete(key)
          }
          resolve()
        },
      }
    },
  }
}
