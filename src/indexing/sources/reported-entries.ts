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
  const reported = new Map<string, 'refused' | 'settled'>()

  return {
    firstResults(written) {
      const first = written.filter(({ entry }) => !reported.has(entry.id))
      for (const { entry, result } of first) {
        reported.set(entry.id, isRejected(result) ? 'refused' : 'settled')
      }
      return first
    },
    firstLost(lost) {
      const first = lost.filter(({ id }) => reported.get(id) !== 'settled')
      for (const { id } of first) reported.set(id, 'settled')
      return first
    },
    forget(ids) {
      for (const id of ids) reported.delete(id)
    },
    clear() {
      reported.clear()
    },
  }
}
