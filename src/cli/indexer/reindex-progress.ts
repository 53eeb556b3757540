import type { Clock } from '../../lib/clock.ts'
import { createStatusLine, type Screen } from '../../lib/status-line.ts'

/** Shows how far a reindex came. `clock`: monotonic milliseconds. */
export function createReindexProgress(screen: Screen, clock: Clock) {
  const { show, printLine, clear } = createStatusLine(screen, clock)
  return {
    update(compared: number, total: number) {
      const percent = Math.floor((100 * compared) / Math.max(1, total))
      show(`${percent}% · ${compared} of ${total} documents compared`)
    },
    /** A line that stays. */
    printLine,
    /** Wipes what does not stay. */
    end: clear,
  }
}
