import { monotonicClock } from '../../lib/clock.ts'

const REDRAW_MS = 200
const PLAIN_MS = 10_000

/** How far a reindex came: on a terminal one line, redrawn; elsewhere a line now and then. */
export function createReindexProgress(screen: NodeJS.WriteStream) {
  let shownAt = monotonicClock()
  let isDrawn = false

  function end() {
    if (isDrawn) screen.write('\r\x1b[K')
    isDrawn = false
  }

  return {
    update(looked: number, total: number) {
      const at = monotonicClock()
      if (at - shownAt < (screen.isTTY ? REDRAW_MS : PLAIN_MS)) return
      shownAt = at
      const percent = Math.floor((100 * looked) / Math.max(1, total))
      const line = `${percent}% · ${looked} of ${total} documents compared`
      end()
      screen.write(screen.isTTY ? line.slice(0, screen.columns - 1) : `${line}\n`)
      isDrawn = screen.isTTY
    },
    /** A line that stays. */
    say(line: string) {
      end()
      screen.write(`${line}\n`)
    },
    end,
  }
}
