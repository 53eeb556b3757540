import type { Clock } from '../../lib/clock.ts'
import type { LoadInput } from './load-input.ts'
import { progressLine, progressText, type Reached } from './progress-line.ts'

/** Where progress is shown: a terminal, or a file or pipe. */
export type Screen = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'> & {
  write(text: string): unknown
}

export interface Progress {
  update(counts: Readonly<{ read: number; refused: number }>): void
  /** A line that stays, above the one that is redrawn. */
  say(line: string): void
  /** Wipes what does not stay. */
  end(): void
}

const REDRAW_MS = 200
/** Between the lines of a log, where nothing can be redrawn; what takes less long has none. */
const PLAIN_MS = 10_000
/** Where a terminal does not tell. */
const USUAL_COLUMNS = 80

/**
 * Shows how a load goes on: on a terminal one line, redrawn; elsewhere a line now and then. `clock`:
 * monotonic milliseconds.
 */
export function createProgress(
  screen: Screen,
  input: Pick<LoadInput, 'bytesRead' | 'totalBytes'>,
  clock: Clock,
): Progress {
  let shownAt = clock()
  let isDrawn = false
  /** Rates count from the first batch on: what was waited for or passed over before it tells nothing. */
  let first: { at: number; read: number; bytes: number } | undefined

  function wipe() {
    if (isDrawn) screen.write('\r\x1b[K')
    isDrawn = false
  }

  function draw(reached: Reached) {
    wipe()
    // The last column stays free: some terminals go to the next line there.
    screen.write(progressLine(reached, (screen.columns || USUAL_COLUMNS) - 1))
    isDrawn = true
  }

  return {
    update({ read, refused }) {
      const at = clock()
      first ??= { at, read, bytes: input.bytesRead() }
      if (at - shownAt < (screen.isTTY ? REDRAW_MS : PLAIN_MS) || at === first.at) return
      shownAt = at
      const seconds = (at - first.at) / 1000
      const reached = {
        lines: read,
        refused,
        linesPerSecond: (read - first.read) / seconds,
        ...estimate(input, (input.bytesRead() - first.bytes) / seconds),
      }
      if (screen.isTTY) draw(reached)
      else screen.write(`${progressText(reached)}\n`)
    },
    say(line) {
      wipe()
      screen.write(`${line}\n`)
    },
    end: wipe,
  }
}

function estimate(
  { totalBytes, bytesRead }: Pick<LoadInput, 'bytesRead' | 'totalBytes'>,
  bytesPerSecond: number,
): Pick<Reached, 'share' | 'secondsLeft'> {
  if (totalBytes === null) return { share: null, secondsLeft: null }
  const left = Math.max(0, totalBytes - bytesRead()) // A file may grow meanwhile.
  return {
    share: (totalBytes - left) / totalBytes,
    secondsLeft: bytesPerSecond > 0 ? left / bytesPerSecond : null,
  }
}
