import { Unavailable } from '../../lib/errors/unavailable.ts'

/**
 * `other_writer`: another process is the writer. `clock`: no write timestamp is allowed now.
 * `stream_full`: the watch is behind. `busy`: too many calls at a time.
 */
export type IngestionUnavailableCode = 'store' | 'other_writer' | 'clock' | 'stream_full' | 'busy'

/** No line of the call is acknowledged, and the caller sends all of them again. */
export class IngestionUnavailable extends Unavailable {
  readonly code: IngestionUnavailableCode

  constructor(code: IngestionUnavailableCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'IngestionUnavailable'
    this.code = code
  }
}
