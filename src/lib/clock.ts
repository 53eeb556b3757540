/** A source of time in milliseconds; time enters the domain through one of these, never `Date.now()`. */
export type Clock = () => number

/** Epoch milliseconds, for what is stored or shown. */
export const wallClock: Clock = () => Date.now()

/** Milliseconds since start, for durations and windows: it never jumps when the machine's time is set. */
export const monotonicClock: Clock = () => performance.now()
