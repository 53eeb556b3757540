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
/** Buffer while the reader of stderr stalls. Beyond it, lines are dropped to save the process. */
const MAX_BUFFER_BYTES = 16 * 2 ** 20

/** Opens the log on stderr, one JSON line per event. */
export function openLog({ logLevel }: Pick<Config, 'logLevel'>, stderr: LogStream): Logger {
  return pino({ level: logLevel }, stderr.fd === undefined ? stderr : pino.destination(stderr.fd))
}

/**
 * Opens the log with one line per request. Lines are buffered for up to 50 ms, because a write per
 * line costs a tenth of the time of a request. All are flushed at exit, unless the process is
 * killed or runs out of memory.
 */
export function openRequestLog({ logLevel }: Pick<Config, 'logLevel'>, stderr: LogStream): Logger {
  if (stderr.fd === undefined) return openLog({ logLevel }, stderr)
  const destination = pino.destination({
    dest: stderr.fd,
    sync: false,
    minLength: MIN_FLUSH_BYTES,
    maxWrite: MAX_WRITE_BYTES,
    periodicFlush: FLUSH_INTERVAL_MS,
    maxLength: MAX_BUFFER_BYTES,
  })
  return pino({ level: logLevel }, destination)
}
