/** A source of time in milliseconds, which the domain uses instead of `Date.now()`. */
export type Clock = () => number

/** Epoch milliseconds, for stored and displayed timestamps. */
export const wallClock: Clock = () => Date.now()

/** Milliseconds since start, for durations: changes of the system time do not affect it. */
export const monotonicClock: Clock = () => performance.now()

/** The speed while the wall clock is behind. The steady clock then does not stay ahead for ever. */
const CATCH_UP_SPEED = 0.9

/**
 * Creates a clock of epoch milliseconds that never steps back, for waits until stored timestamps.
 * It is the wall clock, but while that was set back it continues, a little slower, until that
 * catches up.
 */
export function createSteadyClock(clock: Clock, monotonic: Clock): Clock {
  let readAt = monotonic()
  let epochMs = clock()
  return () => {
    const now = monotonic()
    epochMs = Math.max(clock(), epochMs + CATCH_UP_SPEED * (now - readAt))
    readAt = now
    return Math.floor(epochMs)
  }
}
