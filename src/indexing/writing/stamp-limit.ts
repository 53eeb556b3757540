import { formatInstant } from '../../lib/instant.ts'
import { Unavailable } from '../../lib/unavailable.ts'

/**
 * How far stamps may be ahead of the store's clock. Clocks that NTP keeps are apart by far less; what is
 * stamped further ahead hides from `updated_lt`, and every later stamp has to be above it.
 */
export const MAX_AHEAD_MS = 5_000

/** The clock that a writer is held against. Epoch milliseconds. */
export interface StoreTime {
  nowMs: number
  /** Names the clock in an error. */
  name: string
}

/** The writer's clock runs ahead of the store's. It ends the command: waiting does not mend a clock. */
export class ClockAhead extends Error {
  constructor(clockMs: number, store: StoreTime, mend: string) {
    const ahead = `${secondsBetween(store.nowMs, clockMs)} s ahead of ${store.name} (${formatInstant(store.nowMs)})`
    super(
      `nothing was stamped: the clock of this machine (${formatInstant(clockMs)}) is ${ahead}; at most ${MAX_AHEAD_MS / 1000} s are allowed. ${mend}`,
    )
    this.name = 'ClockAhead'
  }
}

/**
 * What was stamped before is ahead of the store's clock. `Unavailable`, because time mends a small lead: a
 * watch retries and stays there to report it.
 */
export class StampsAhead extends Unavailable {
  constructor(lastStamp: number, store: StoreTime) {
    super(
      `nothing is stamped: the stamps of the index (${formatInstant(lastStamp)}) are ${secondsBetween(store.nowMs, lastStamp)} s ahead of ${store.name} (${formatInstant(store.nowMs)}). If that time is right, recover the index: docker/README.md, "Stamps ahead of the clock"`,
    )
    this.name = 'StampsAhead'
  }
}

/**
 * The stamp that follows `lastStamp` at `clockMs`.
 * @throws ClockAhead, StampsAhead
 */
export function nextStampWithin(
  store: StoreTime,
  clockMs: number,
  lastStamp: number,
  mend: string,
): number {
  const limit = store.nowMs + MAX_AHEAD_MS
  if (clockMs > limit) throw new ClockAhead(clockMs, store, mend)
  if (lastStamp >= limit) throw new StampsAhead(lastStamp, store)
  return Math.max(lastStamp + 1, Math.floor(clockMs))
}

function secondsBetween(earlierMs: number, laterMs: number): number {
  return Math.round((laterMs - earlierMs) / 1000)
}
