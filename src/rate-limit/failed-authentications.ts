import { MINUTE_MS } from '../lib/durations.ts'

/** Failed authentications of one address, in a fixed window that starts at the first. */
export interface FailureWindow {
  failures: number
  /** End of the window, on the clock of `nowMs`. */
  endsAtMs: number
}

export const MAX_FAILURES = 30
export const WINDOW_MS = MINUTE_MS

/** Whole seconds, at least 1, until the address is unblocked; 0 when it is not blocked. */
export function blockedSeconds(window: FailureWindow | undefined, nowMs: number): number {
  if (window === undefined || nowMs >= window.endsAtMs || window.failures < MAX_FAILURES) return 0
  return Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1000))
}

/** The window after one more failure. A failure after its end starts a new one. */
export function withFailure(window: FailureWindow | undefined, nowMs: number): FailureWindow {
  if (window === undefined || nowMs >= window.endsAtMs) {
    return { failures: 1, endsAtMs: nowMs + WINDOW_MS }
  }
  return { ...window, failures: window.failures + 1 }
}
