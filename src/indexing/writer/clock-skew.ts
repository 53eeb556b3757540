import { Unavailable } from '../../lib/errors/unavailable.ts'
import { formatInstant } from '../../lib/instant.ts'

/**
 * The allowed lead of write timestamps over the store's clock; clocks under NTP differ by far less.
 * Documents further ahead are invisible to `updated_lt` queries, and force every later write
 * timestamp above them.
 */
export const MAX_CLOCK_SKEW_MS = 5_000

/** The clock that limits write timestamps. Epoch milliseconds. */
export interface ReferenceTime {
  nowMs: number
  /** Names the clock in an error. */
  name: string
}

/** The writer's clock is ahead of the store's. Ends the command: a retry cannot correct a clock. */
export class ClockSkewError extends Error {
  constructor(clockMs: number, reference: ReferenceTime, remedy: string) {
    const skewText = `${secondsBetween(reference.nowMs, clockMs)} s ahead of ${reference.name} (${formatInstant(reference.nowMs)})`
    super(
      `nothing was written: the clock of this machine (${formatInstant(clockMs)}) is ${skewText}; at most ${MAX_CLOCK_SKEW_MS / 1000} s are allowed. ${remedy}`,
    )
    this.name = 'ClockSkewError'
  }
}

/**
 * Earlier write timestamps are ahead of the store's clock. `Unavailable`, because a small lead
 * passes with time: a watch retries and keeps reporting it.
 */
export class TimestampsAheadError extends Unavailable {
  constructor(lastWriteTimestamp: number, reference: ReferenceTime) {
    super(
      `nothing is written: the write timestamps of the index (${formatInstant(lastWriteTimestamp)}) are ${secondsBetween(reference.nowMs, lastWriteTimestamp)} s ahead of ${reference.name} (${formatInstant(reference.nowMs)}). If that time is right, recover the index: docker/recovery.md, "Write timestamps ahead of the clock"`,
    )
    this.name = 'TimestampsAheadError'
  }
}

/**
 * The write timestamp after `lastWriteTimestamp` at `clockMs`.
 * @throws ClockSkewError, TimestampsAheadError
 */
export function nextWriteTimestamp(
  reference: ReferenceTime,
  clockMs: number,
  lastWriteTimestamp: number,
  remedy: string,
): number {
  const limitMs = reference.nowMs + MAX_CLOCK_SKEW_MS
  if (clockMs > limitMs) throw new ClockSkewError(clockMs, reference, remedy)
  if (lastWriteTimestamp >= limitMs) throw new TimestampsAheadError(lastWriteTimestamp, reference)
  return Math.max(lastWriteTimestamp + 1, Math.floor(clockMs))
}

function secondsBetween(earlierMs: number, laterMs: number): number {
  return Math.round((laterMs - earlierMs) / 1000)
}
