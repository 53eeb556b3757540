import { monotonicClock, wallClock } from '../../../src/lib/clock.ts'

/** The time of a test: it passes as usual, and can be moved forward. The clock can be set back. */
export interface ScriptedTime {
  /** Epoch milliseconds. */
  clock(): number
  monotonic(): number
  advance(ms: number): void
  /** Sets the clock back. No time passes. */
  setBack(ms: number): void
}

/** Starts with the current time. */
export function createScriptedTime(): ScriptedTime {
  let offsetMs = 0
  let backMs = 0
  return {
    clock: () => wallClock() + offsetMs - backMs,
    monotonic: () => monotonicClock() + offsetMs,
    advance(ms) {
      offsetMs += ms
    },
    setBack(ms) {
      backMs += ms
    },
  }
}
