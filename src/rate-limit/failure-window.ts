/** Failed authentications of one address: a fixed window from the first of them. */
export interface FailureWindow {
  failures: number
  /** When the window ends; the same clock as `nowMs` everywhere. */
  endsAtMs: number
}

export const MAX_FAILURES = 30
export const WINDOW_MS = 60_000

/** Whole seconds, at least 1, until the address may try again; 0 when it is not blocked. */
export function blockedSeconds(window: FailureWindow | undefined, nowMs: number): number {
  if (window === undefined || nowMs >= window.endsAtMs || window.failures < MAX_FAILURES) return 0
  return Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1000))
}

/** The window after one more failure; a window that ended begins anew. */
export function withFailure(window: FailureWindow | undefined, nowMs: number): FailureWindow {
  if (window === undefined || nowMs >= window.endsAtMs) {
    return { failures: 1, endsAtMs: nowMs + WINDOW_MS }
  }
  return { ...window, failures: window.failures + 1 }
}
