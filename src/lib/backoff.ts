export interface Backoff {
  firstMs?: number
  longestMs?: number
}

/**
 * Milliseconds to wait once so many tries in a row have failed, counted from 1: `firstMs`, then twice as
 * long after each further one, `longestMs` at most.
 */
export function backoffMs(
  failedAttempts: number,
  { firstMs = 100, longestMs = 5_000 }: Backoff = {},
): number {
  return Math.min(firstMs * 2 ** (failedAttempts - 1), longestMs)
}
