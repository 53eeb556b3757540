import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../config/config.ts'

/** Where the log is written. */
export interface LogStream extends DestinationStream {
  /** The log writes to this file descriptor directly. */
  fd?: number
}

/** Writes up to this size are atomic on a pipe (PIPE_BUF), even with several writers. */
const MAX_WRITE_BYTES = 4_096
const MIN_FLUSH_BYTES = 3_072
const FLUSH_INTERVAL_MS = 50
/** Buffer while stderr accepts nothing. Beyond it, lines are dropped to save the process. */
const MAX_BUFFER_BYTES = 16 * 2 ** 20

/** Opens the log on stderr, one JSON line per event. */
export function openLog({ logLevel }: Pick<Config, 'logLevel'>, stderr: LogStream): Logger {
  if (stderr.fd === undefined) return pino({ level: logLevel }, stderr)
  // Every line is longer. Without a minimum, `flush` does nothing.
  const writes = { sync: true, minLength: 1 }
  return pino({ level: logLevel }, openDestination(stderr.fd, writes))
}

/**
 * Opens the log with one line per request. Lines are buffered for up to 50 ms, because a write per
 * line costs a tenth of the time of a request. All are flushed at exit, unless the process is
 * killed or runs out of memory.
 */
export function openRequestLog({ logLevel }: Pick<Config, 'logLevel'>, stderr: LogStream): Logger {
  if (stderr.fd === undefined) return openLog({ logLevel }, stderr)
  const destination = openDestination(stderr.fd, {
    sync: false,
    minLength: MIN_FLUSH_BYTES,
    maxWrite: MAX_WRITE_BYTES,
    periodicFlush: FLUSH_INTERVAL_MS,
  })
  return pino({ level: logLevel }, destination)
}

/** A synchronous write is complete when the call returns; the others are in batches. */
type Writes = { sync: boolean; minLength: number } & Partial<
  Record<'maxWrite' | 'periodicFlush', number>
>

/**
 * Lines that the file descriptor does not accept, such as on a full disk, stay in the buffer, and
 * the next line tries them again. By default such an error ends the process. At its exit the lines
 * would be tried until there is space, and the process would neither respond nor end.
 */
function openDestination(dest: number, writes: Writes) {
  const destination = pino.destination({ dest, maxLength: MAX_BUFFER_BYTES, ...writes })
  const flushSync = destination.flushSync.bind(destination)
  let isFailing = false
  destination.on('error', () => {
    isFailing = true
  })
  destination.on('write', () => {
    isFailing = false
  })
  // A line that a full buffer drops tries no write, so that the log would never continue.
  destination.on('drop', () => destination.flush())
  destination.flushSync = () => {
    const state = destination as unknown as DestinationState
    leaveWriteInFlight(state)
    // The first error may be at the exit. With such a minimum, each flush writes one batch.
    Object.assign(destination, { sync: true, minLength: MAX_BUFFER_BYTES })
    do destination.flush()
    while (!isFailing && state._bufs.length > 0)
    if (!isFailing) flushSync()
  }
  return destination
}

/** The private state of a destination. */
interface DestinationState {
  _writing: boolean
  _writingBuf: string | Buffer
  _bufs: string[]
  _len: number
}

/** A write in flight would hide from the exit that the lines behind it cannot be written. */
function leaveWriteInFlight(state: DestinationState): void {
  if (!state._writing) return
  state._len -= Buffer.byteLength(state._writingBuf)
  state._writingBuf = ''
  state._writing = false
}
