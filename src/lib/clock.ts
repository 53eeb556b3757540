/** A source of time in milliseconds, which the domain uses instead of `Date.now()`. */
export type Clock = () => number

/** Epoch milliseconds, for stored and displayed timestamps. */
export const wallClock: Clock = () => Date.now()

/** Milliseconds since start, for durations: changes of the system time do not affect it. */
export const monotonicClock: Clock = () => performance.now()
