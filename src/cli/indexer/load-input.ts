import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'

/** What is loaded: its bytes, how many were read so far, and how many there are where that is known. */
export interface LoadInput {
  chunks: AsyncIterable<Buffer>
  bytesRead(): number
  totalBytes: number | null
  /** Gives up what is not read yet, which nothing else may wait for then. */
  close(): void
}

const CHUNK_BYTES = 256 * 1024
/** By when a signal that was sent with the end of the input has been told. */
const SIGNAL_DELAY_MS = 50

/**
 * A file, or `stdin` for `-`. When `signal` aborts, reading ends with an error.
 * @throws Error naming the file when it cannot be read, at once or while it is read
 */
export async function openInput(
  file: string,
  stdin: Readable,
  signal: AbortSignal,
): Promise<LoadInput> {
  if (file === '-') return withByteCount('standard input', stdin, null, signal)
  const { size } = await stat(file).catch(unreadable(file))
  const stream = createReadStream(file, { highWaterMark: CHUNK_BYTES })
  return withByteCount(file, stream, size || null, signal)
}

function withByteCount(
  name: string,
  stream: Readable,
  totalBytes: number | null,
  signal: AbortSignal,
): LoadInput {
  let bytesRead = 0
  async function* chunks() {
    try {
      for await (const chunk of addAbortSignal(signal, stream)) {
        bytesRead += chunk.length
        yield chunk
      }
      // Ctrl-C ends whoever writes into the pipe too; its half line is no end of the input.
      await setTimeout(SIGNAL_DELAY_MS)
      signal.throwIfAborted()
    } catch (error) {
      if (signal.aborted) throw new Error('interrupted', { cause: error })
      unreadable(name)(error)
    }
  }
  return {
    chunks: chunks(),
    bytesRead: () => bytesRead,
    totalBytes,
    close: () => void stream.destroy(),
  }
}

function unreadable(name: string) {
  return (cause: unknown): never => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`cannot read orders from ${name}: ${reason}`, { cause })
  }
}
