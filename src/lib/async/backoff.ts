export interface Backoff {
  firstMs?: number
  longestMs?: number
}

/**
 * Exponential backoff in milliseconds after consecutive failures, counted from 1: `firstMs`,
 * doubled after each further failure, up to `longestMs`.
 */
export function backoffMs(
  failedAttempts: number,
  { firstMs = 100, longestMs = 5_000 }: Backoff = {},
): number {
  return Math.min(firstMs * 2 ** (failedAttempts - 1), longestMs)
}
