import { ClockSkewError, TimestampsAheadError } from '../../indexing/writer/clock-skew.ts'
import { LeaseLostError, WatchRunningError } from '../../indexing/writer/writer-errors.ts'
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

/**
 * The error of a writer as the reason why nothing is acknowledged. `isAborted`: by the deadline.
 */
export function toIngestionError(error: unknown, isAborted: boolean): unknown {
  if (!(error instanceof Error) || error instanceof IngestionUnavailable) return error
  const { message } = error
  const toUnavailable = (code: IngestionUnavailableCode) =>
    new IngestionUnavailable(code, message, { cause: error })
  if (error instanceof WatchRunningError || error instanceof LeaseLostError) {
    return toUnavailable('other_writer')
  }
  if (error instanceof ClockSkewError || error instanceof TimestampsAheadError) {
    return toUnavailable('clock')
  }
  // The deadline interrupts the retries of an open index.
  return error instanceof Unavailable || isAborted ? toUnavailable('store') : error
}
