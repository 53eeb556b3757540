import type { Clock } from './clock.ts'

/** Where it is shown: a terminal, or a file or pipe. */
export type Screen = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'> & {
  write(text: string): unknown
}

/** One line that tells how far something came: redrawn on a terminal, elsewhere told now and then. */
export interface StatusLine {
  /** Shows `text` if it is time to; on a terminal what fits `within` so many columns. */
  show(text: string, within?: (columns: number) => string): void
  /** A line that stays, above the one that is redrawn. */
  printLine(line: string): void
  /** Takes away what does not stay. */
  clear(): void
}

const REDRAW_MS = 200
/** Between the lines of a log, where nothing can be redrawn; what takes less long has none. */
const LOG_INTERVAL_MS = 10_000
/** Where a terminal does not tell. */
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
      // The last column stays free: some terminals go to the next line there.
      if (screen.isTTY) screen.write(within((screen.columns || DEFAULT_COLUMNS) - 1))
      else screen.write(`${text}\n`)
      isDrawn = screen.isTTY
    },
    printLine(line) {
      clear()
      screen.write(`${line}\n`)
    },
    clear,
  }
}
