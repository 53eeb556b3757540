import type { Clock } from '../../lib/clock.ts'
import { createStatusLine, type Screen } from '../../lib/status-line.ts'

/** Shows how far a reindex came. `clock`: monotonic milliseconds. */
export function createReindexProgress(screen: Screen, clock: Clock) {
  const { show, say, wipe } = createStatusLine(screen, clock)
  return {
    update(looked: number, total: number) {
      const percent = Math.floor((100 * looked) / Math.max(1, total))
      show(`${percent}% · ${looked} of ${total} documents compared`)
    },
    /** A line that stays. */
    say,
    /** Wipes what does not stay. */
    end: wipe,
  }
}
