import { isRejected, type WriteResult } from '../writer/decide.ts'
import type { LostEntries, StreamEntry } from './change-stream.ts'

/**
 * The entries that were logged and counted while a watch runs, until their acknowledgement is
 * confirmed. The stream may return the others again, and they must count once.
 */
export interface ReportedEntries {
  /** Returns those that were not reported before, and remembers them. */
  firstResults<T extends { entry: StreamEntry; result: WriteResult }>(written: readonly T[]): T[]
  /**
   * The same for lost entries. A refused one counts again: its dead letter was not stored when the
   * entry was removed.
   */
  firstLost(lost: readonly LostEntries[]): LostEntries[]
  /** The stream confirmed that it returns these no more. */
  forget(ids: readonly string[]): void
  /** The stream has nothing left to return. */
  clear(): void
}

/** Creates a memory of no entries. */
export function createReportedEntries(): ReportedEntries {
  const refused = new Set<string>()
  const settled = new Set<string>()

  return {
    firstResults(written) {
      const first = written.filter(({ entry: { id } }) => !settled.has(id) && !refused.has(id))
      for (const { entry, result } of first) (isRejected(result) ? refused : settled).add(entry.id)
      return first
    },
    firstLost(lost) {
      const first = lost.filter(({ id }) => !settled.has(id))
      for (const { id } of first) settled.add(id)
      return first
    },
    forget(ids) {
      for (const id of ids) {
        refused.delete(id)
        settled.delete(id)
      }
    },
    clear() {
      refused.clear()
      settled.clear()
    },
  }
}
