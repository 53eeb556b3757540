import type { LoadSummary } from '../../indexing/sources/load.ts'
import type { LoadInput } from './load-input.ts'

const REDRAW_MS = 200

/** One line on a terminal, redrawn while a load goes on: lines, rate, refused, time left. */
export function createProgress(stream: NodeJS.WriteStream, input: LoadInput) {
  const startedAt = performance.now()
  let drawnAt = startedAt
  let drawn = false

  function clear() {
    if (drawn) stream.write('\r\x1b[K')
    drawn = false
  }

  return {
    update({ read, refused }: Readonly<LoadSummary>) {
      const now = performance.now()
      if (!stream.isTTY || now - drawnAt < REDRAW_MS) return
      const seconds = (now - startedAt) / 1000
      const rate = Math.round(read / seconds)
      const parts = [`${read} lines`, `${rate} lines/s`, `${refused} refused`, timeLeft(seconds)]
      clear()
      stream.write(
        parts
          .filter(Boolean)
          .join(' · ')
          .slice(0, stream.columns - 1),
      )
      drawnAt = now
      drawn = true
    },
    /** A line that stays, above the one that is redrawn. */
    say(line: string) {
      clear()
      stream.write(`${line}\n`)
    },
    end: clear,
  }

  function timeLeft(seconds: number): string {
    if (input.totalBytes === null || input.bytesRead() === 0) return ''
    const left = (seconds * (input.totalBytes - input.bytesRead())) / input.bytesRead()
    const percent = Math.floor((100 * input.bytesRead()) / input.totalBytes)
    return `${percent}% · about ${Math.max(0, Math.round(left))} s left`
  }
}
