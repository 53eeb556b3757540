import type { Clock } from './clock.ts'
import { replaceControls } from './text/control-characters.ts'

/** The output: a terminal, a file or a pipe. */
export type Screen = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'> & {
  write(text: string): unknown
}

/** A progress line: redrawn in place on a terminal, appended at intervals elsewhere. */
export interface StatusLine {
  /** Shows `text`, rate-limited; `within` shortens it to the columns of a terminal. */
  show(text: string, within?: (columns: number) => string): void
  /** Prints a permanent line above the progress line, without control characters. */
  printLine(line: string): void
  /** Erases the progress line. */
  clear(): void
}

const REDRAW_MS = 200
/** Interval of lines in a file or pipe. Shorter work prints none. */
const LOG_INTERVAL_MS = 10_000
/** Width for a terminal that does not report it. */
const DEFAULT_COLUMNS = 80

/** `clock`: monotonic milliseconds. */
export function createStatusLine(screen: Screen, clock: Clock): StatusLine {
  let shownAt = clock()
  let isDrawn = false

  function clear() {
    if (isDrawn) screen.write('\r\x1b[K')
    isDrawn = false
  }

  return {
    show(text, within = (columns) => text.slice(0, columns)) {
      const at = clock()
      if (at - shownAt < (screen.isTTY ? REDRAW_MS : LOG_INTERVAL_MS)) return
      shownAt = at
      clear()
      // Leave the last column free: some terminals wrap to the next line after it.
      if (screen.isTTY) screen.write(within((screen.columns || DEFAULT_COLUMNS) - 1))
      else screen.write(`${text}\n`)
      isDrawn = screen.isTTY
    },
    printLine(line) {
      clear()
      screen.write(`${replaceControls(line)}\n`)
    },
    clear,
  }
}
