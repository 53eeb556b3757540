/** The locks of one piece of work. */
export interface LockSession {
  /** Waits until every earlier session has released these keys. Keys already held cost no wait. */
  acquire(keys: readonly string[]): Promise<void>
  /** Releases all keys, after success or failure. */
  release(): void
}

export interface KeyedLock {
  openSession(): LockSession
}

/** Serializes work on a key in order of acquisition; work on different keys runs concurrently. */
export function createKeyedLock(): KeyedLock {
  /** For each key, the release of its latest session. */
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

/** Runs asynchronous work on a key one at a time, in call order. */
export function createKeyedMutex(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const locks = createKeyedLock()
  return async (key, work) => {
    const session = locks.openSession()
    await session.acquire([key])
    return work().finally(session.release)
  }
}
