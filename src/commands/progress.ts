import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { LoadSummary } from '../indexing/load.ts'

/** What is loaded: its bytes, how many were read so far, and how many there are where that is known. */
export interface LoadInput {
  chunks: AsyncIterable<Buffer>
  bytesRead(): number
  totalBytes: number | null
}

/** A file, or standard input for `-`. @throws Error naming the file when it cannot be read */
export async function openInput(file: string): Promise<LoadInput> {
  if (file === '-') return counted(process.stdin, null)
  try {
    const { size } = await stat(file)
    return counted(createReadStream(file, { highWaterMark: 256 * 1024 }), size || null)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`cannot read the file of orders: ${reason}`, { cause })
  }
}

function counted(source: AsyncIterable<Buffer>, totalBytes: number | null): LoadInput {
  let bytesRead = 0
  async function* chunks() {
    for await (const chunk of source) {
      bytesRead += chunk.length
      yield chunk
    }
  }
  return { chunks: chunks(), bytesRead: () => bytesRead, totalBytes }
}

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
      stream.write(parts.filter(Boolean).join(' · '))
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
