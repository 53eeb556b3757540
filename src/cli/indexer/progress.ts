import type { Clock } from '../../lib/clock.ts'
import { createStatusLine, type Screen } from '../../lib/status-line.ts'
import type { LoadInput } from './load-input.ts'

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

/** The progress and the rate of a load. */
export interface LoadProgress {
  /** Lines read so far. */
  lines: number
  refused: number
  linesPerSecond: number
  /** Fraction of the input read, 0 to 1; `null` when the total is unknown. */
  share: number | null
  /** `null` when unknown. */
  secondsLeft: number | null
}

const SEPARATOR = ' · '
const WIDEST_BAR = 30
const NARROWEST_BAR = 5

/** One line of at most `columns`: the bar shrinks first, then disappears, then the text is cut. */
export function progressLine(progress: LoadProgress, columns: number): string {
  const text = progressText(progress)
  if (progress.share === null) return text.slice(0, columns)
  const width = Math.min(WIDEST_BAR, columns - text.length - 1)
  if (width < NARROWEST_BAR) return text.slice(0, columns)
  const filled = Math.floor(progress.share * width)
  return `${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${text}`
}

/** The progress without a bar. */
export function progressText({
  lines,
  refused,
  linesPerSecond,
  share,
  secondsLeft,
}: LoadProgress): string {
  const parts = [
    share === null ? [] : `${Math.floor(100 * share)}%`,
    `${lines} lines`,
    `${Math.round(linesPerSecond)} lines/s`,
    `${refused} refused`,
    secondsLeft === null ? [] : `about ${durationText(secondsLeft)} left`,
  ]
  return parts.flat().join(SEPARATOR)
}

/** Formats seconds in the two largest units, such as 1 h 20 min. */
function durationText(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  const minutes = Math.ceil(whole / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
