import { createMutex } from '../../../lib/async/mutex.ts'

/**
 * `all` writes of this process, or those after which a delivery is pending that was not before. A
 * search for pending deliveries finds any other write by the earlier version of its document. `any`
 * writes include those of other processes.
 */
export type WriteKind = 'all' | 'newly-pending' | 'any'

/** Makes writes visible to the searches of this process, with few refreshes. */
export interface Visibility {
  /** Runs a write. */
  write<T>(isNewlyPending: boolean, work: () => Promise<T>): Promise<T>
  /** Returns once searches see every write of this kind that ended before the call. */
  ensure(kind: WriteKind): Promise<void>
}

/**
 * Concurrent calls of `ensure` share a refresh. Where this process wrote nothing since the last
 * one, only `any` needs another.
 */
export function createVisibility(refresh: () => Promise<void>): Visibility {
  const mutex = createMutex()
  let written = 0
  let newlyPending = 0
  let visible = 0

  return {
    async write(isNewlyPending, work) {
      try {
        return await work()
      } finally {
        written += 1 // Also after a failure, whose outcome is unknown.
        if (isNewlyPending) newlyPending = written
      }
    },
    async ensure(kind) {
      if (kind === 'any') written += 1 // Of another process.
      const needed = kind === 'newly-pending' ? newlyPending : written
      if (visible >= needed) return
      await mutex(async () => {
        if (visible >= needed) return
        const refreshed = written
        await refresh()
        visible = refreshed
      })
    },
  }
}
