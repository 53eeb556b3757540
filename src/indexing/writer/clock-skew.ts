import { formatInstant } from '../../lib/instant.ts'
import { Unavailable } from '../../lib/unavailable.ts'

/**
 * How far stamps may be ahead of the store's clock. Clocks that NTP keeps are apart by far less; what is
 * stamped further ahead hides from `updated_lt`, and every later stamp has to be above it.
 */
export const MAX_CLOCK_SKEW_MS = 5_000

/** The clock that a writer is held against. Epoch milliseconds. */
export interface ReferenceTime {
  nowMs: number
  /** Names the clock in an error. */
  name: string
}

/** The writer's clock runs ahead of the store's. It ends the command: waiting does not mend a clock. */
export class ClockSkewError extends Error {
  constructor(clockMs: number, reference: ReferenceTime, remedy: string) {
    const skewText = `${secondsBetween(reference.nowMs, clockMs)} s ahead of ${reference.name} (${formatInstant(reference.nowMs)})`
    super(
      `nothing was stamped: the clock of this machine (${formatInstant(clockMs)}) is ${skewText}; at most ${MAX_CLOCK_SKEW_MS / 1000} s are allowed. ${remedy}`,
    )
    this.name = 'ClockAhead'
  }
}

/**
 * What was stamped before is ahead of the store's clock. `Unavailable`, because time mends a small lead: a
 * watch retries and stays there to report it.
 */
export class TimestampsAheadError extends Unavailable {
  constructor(lastWriteTimestamp: number, reference: ReferenceTime) {
    super(
      `nothing is stamped: the stamps of the index (${formatInstant(lastWriteTimestamp)}) are ${secondsBetween(reference.nowMs, lastWriteTimestamp)} s ahead of ${reference.name} (${formatInstant(reference.nowMs)}). If that time is right, recover the index: docker/README.md, "Stamps ahead of the clock"`,
    )
    this.name = 'StampsAhead'
  }
}

/**
 * The stamp that follows `lastStamp` at `clockMs`.
 * @throws ClockAhead, StampsAhead
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
