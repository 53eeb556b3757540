import { type Logger, pino } from 'pino'
import type { Output } from '../commands/command-context.ts'
import type { Config } from '../config/config.ts'

/** What a pipe takes in one piece, whoever else writes into it. */
const MAX_WRITE_BYTES = 4_096
const MIN_FLUSH_BYTES = 3_072
const FLUSH_INTERVAL_MS = 50
/** Kept for a reader of stderr that has stalled; more is lost, rather than the process. */
const MAX_BUFFER_BYTES = 16 * 2 ** 20

/** The log, on stderr, a line for each thing. */
export function openLog({ logLevel }: Pick<Config, 'logLevel'>, stderr: Output): Logger {
  return pino({ level: logLevel }, stderr.fd === undefined ? stderr : pino.destination(stderr.fd))
}

/**
 * The same with a line for each request. Lines go out several at a time, some hundredths of a second late at
 * most: to write each by itself costs a tenth of all that is done for a request. They are all written when the
 * process ends, unless it is killed or runs out of memory.
 */
export function openRequestLog({ logLevel }: Pick<Config, 'logLevel'>, stderr: Output): Logger {
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
