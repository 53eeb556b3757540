import { constants, createReadStream, openSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { addAbortSignal, type Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { errorText } from '../../lib/errors/error-text.ts'

/** The bytes of the input, the number read so far and the total where it is known. */
export interface LoadInput {
  chunks: AsyncIterable<Buffer>
  bytesRead(): number
  totalBytes: number | null
  /** Destroys the stream; pending reads of it fail. */
  close(): void
}

const CHUNK_BYTES = 256 * 1024
/** Time for a signal that accompanies the end of the input to be delivered. */
const SIGNAL_DELAY_MS = 50

/** The first bytes of files that are not UTF-8, and the program that turns them into it. */
const NOT_UTF8 = [
  { magic: [0x1f, 0x8b], format: 'gzip', program: 'zcat' },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], format: 'zstd', program: 'zstdcat' },
  { magic: [0x50, 0x4b, 0x03, 0x04], format: 'zip', program: 'unzip -p' },
  { magic: [0xfd, 0x37, 0x7a, 0x58], format: 'xz', program: 'xzcat' },
  { magic: [0x42, 0x5a, 0x68], format: 'bzip2', program: 'bzcat' },
  { magic: [0xff, 0xfe], format: 'UTF-16', program: 'iconv -f UTF-16 -t UTF-8' },
  { magic: [0xfe, 0xff], format: 'UTF-16', program: 'iconv -f UTF-16 -t UTF-8' },
]
const MAGIC_BYTES = 4

/**
 * Opens a file, or `stdin` for `-`. Reading the chunks throws an error that names the file, also
 * when it cannot be opened, or is compressed or UTF-16. When `signal` aborts, reading fails.
 * @throws Error naming the file when there is none
 */
export async function openInput(
  file: string,
  stdin: Readable,
  signal: AbortSignal,
): Promise<LoadInput> {
  if (file === '-') return withByteCount('standard input', stdin, null, signal)
  const info = await stat(file).catch(unreadable(file))
  const isPipe = info.isFIFO() && process.platform === 'linux'
  const stream = isPipe ? openPipe(file) : createReadStream(file, { highWaterMark: CHUNK_BYTES })
  return withByteCount(file, stream, info.size || null, signal)
}

/**
 * A thread that waits for the writer of a pipe keeps the process from ending, so none does. Not on
 * macOS, where a pipe opened in this way ends before its first writer.
 */
function openPipe(file: string): Readable {
  try {
    return new Socket({
      fd: openSync(file, constants.O_RDONLY | constants.O_NONBLOCK),
      writable: false,
    })
  } catch (error) {
    return unreadable(file)(error)
  }
}

function withByteCount(
  name: string,
  stream: Readable,
  totalBytes: number | null,
  signal: AbortSignal,
): LoadInput {
  let bytesRead = 0
  // The stream may fail before the first chunk is read. Without a listener, that ends the process.
  stream.on('error', () => {})
  async function* chunks() {
    let head = Buffer.alloc(0)
    try {
      for await (const chunk of addAbortSignal(signal, stream)) {
        bytesRead += chunk.length
        if (head.length < MAGIC_BYTES) {
          head = Buffer.concat([head, chunk.subarray(0, MAGIC_BYTES - head.length)])
          assertUtf8(head)
        }
        yield chunk
      }
      // Ctrl-C also ends the process that writes the pipe: its last line may be incomplete.
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

/** Without it, every newline byte of a compressed file would be a rejected line. */
function assertUtf8(head: Buffer): void {
  const found = NOT_UTF8.find(({ magic }) => magic.every((byte, at) => head[at] === byte))
  if (found === undefined) return
  const { format, program } = found
  throw new Error(`this is ${format}: pipe "${program} FILE" into this command, with - as its file`)
}

function unreadable(name: string) {
  return (cause: unknown): never => {
    const reason = errorText(cause)
    throw new Error(`cannot read orders from ${name}: ${reason}`, { cause })
  }
}
