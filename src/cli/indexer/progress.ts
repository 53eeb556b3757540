import type { Clock } from '../../lib/clock.ts'
import { createStatusLine, type Screen } from '../../lib/status-line.ts'
import type { LoadInput } from './load-input.ts'
import { type LoadProgress, progressLine, progressText } from './progress-line.ts'

export interface Progress {
  update(counts: Readonly<{ read: number; refused: number }>): void
  /** Prints a permanent line above the status line. */
  printLine(line: string): void
  /** Clears the status line. */
  end(): void
}

/** Shows the progress and the remaining time of a load. `clock`: monotonic milliseconds. */
export function createProgress(
  screen: Screen,
  input: Pick<LoadInput, 'bytesRead' | 'totalBytes'>,
  clock: Clock,
): Progress {
  const { show, printLine, clear } = createStatusLine(screen, clock)
  /** Rates start at the first batch: skipped lines and waiting before it would distort them. */
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
  const remaining = Math.max(0, totalBytes - bytesRead()) // A file may grow during the load.
  return {
    share: (totalBytes - remaining) / totalBytes,
    secondsLeft: bytesPerSecond > 0 ? remaining / bytesPerSecond : null,
  }
}
