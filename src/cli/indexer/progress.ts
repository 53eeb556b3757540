import type { Clock } from '../../lib/clock.ts'
import { createStatusLine, type Screen } from '../../lib/status-line.ts'
import type { LoadInput } from './load-input.ts'
import { type LoadProgress, progressLine, progressText } from './progress-line.ts'

export interface Progress {
  update(counts: Readonly<{ read: number; refused: number }>): void
  /** A line that stays, above the one that is redrawn. */
  printLine(line: string): void
  /** Wipes what does not stay. */
  end(): void
}

/** Shows how a load goes on, and what is left of it. `clock`: monotonic milliseconds. */
export function createProgress(
  screen: Screen,
  input: Pick<LoadInput, 'bytesRead' | 'totalBytes'>,
  clock: Clock,
): Progress {
  const { show, printLine, clear } = createStatusLine(screen, clock)
  /** Rates count from the first batch on: what was waited for or passed over before it tells nothing. */
  let first: { at: number; read: number; bytes: number } | undefined

  return {
    update({ read, refused }) {
      const at = clock()
      first ??= { at, read, bytes: input.bytesRead() }
      if (at === first.at) return
      const seconds = (at - first.at) / 1000
      const loadProgress = {
        lines: read,
        refused,
        linesPerSecond: (read - first.read) / seconds,
        ...estimate(input, (input.bytesRead() - first.bytes) / seconds),
      }
      show(progressText(loadProgress), (columns) => progressLine(loadProgress, columns))
    },
    printLine,
    end: clear,
  }
}

function estimate(
  { totalBytes, bytesRead }: Pick<LoadInput, 'bytesRead' | 'totalBytes'>,
  bytesPerSecond: number,
): Pick<LoadProgress, 'share' | 'secondsLeft'> {
  if (totalBytes === null) return { share: null, secondsLeft: null }
  const remaining = Math.max(0, totalBytes - bytesRead()) // A file may grow meanwhile.
  return {
    share: (totalBytes - remaining) / totalBytes,
    secondsLeft: bytesPerSecond > 0 ? remaining / bytesPerSecond : null,
  }
}
