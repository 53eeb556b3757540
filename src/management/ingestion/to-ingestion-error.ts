import { ClockSkewError, TimestampsAheadError } from '../../indexing/writer/clock-skew.ts'
import { LeaseLostError, WatchRunningError } from '../../indexing/writer/writer-errors.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'
import { IngestionUnavailable } from './ingestion-unavailable.ts'

/**
 * The error of a writer as the reason why nothing is acknowledged. `isAborted`: by the deadline.
 */
export function toIngestionError(error: unknown, isAborted: boolean): unknown {
  if (!(error instanceof Error) || error instanceof IngestionUnavailable) return error
  const { message } = error
  const toUnavailable = (code: IngestionUnavailable['code']) =>
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
