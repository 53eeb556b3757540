import { HOUR_MS } from '../../lib/durations.ts'

/** The default of `WEBHOOK_RETRY_SCHEDULE`: 16 attempts in 72 hours. */
export const DEFAULT_RETRY_DELAYS_MS: readonly number[] = [
  ...[0, 5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 21_600, 28_800],
  ...[43_200, 43_200, 43_200, 43_200, 8_245],
].map((seconds) => seconds * 1_000)

/** A longer `Retry-After` counts as one hour. */
export const MAX_RETRY_AFTER_MS = HOUR_MS
/** The largest share of a delay by which jitter changes it. */
export const JITTER = 0.25

/** When the attempts of a delivery are due. */
export interface RetrySchedule {
  /** The delay before the first attempt. Without jitter, so events of an order keep their order. */
  firstDelayMs: number
  /** The sum of all delays, without jitter. */
  totalMs: number
  /** The longest delay with jitter, also by `Retry-After`. */
  longestDelayMs: number
  /**
   * The delay before the next attempt, after `step` attempts, at least one; `null` when none is
   * left. `retryAfterMs` of the response can raise it.
   */
  nextDelayMs(step: number, retryAfterMs: number | null): number | null
}

/**
 * Creates a schedule from the delay before each attempt, the first included. `random` returns a
 * number in [0, 1): each later delay varies by up to 25 %, so that retries of an outage spread.
 */
export function createRetrySchedule(
  delaysMs: readonly number[] = DEFAULT_RETRY_DELAYS_MS,
  random: () => number = Math.random,
): RetrySchedule {
  return {
    firstDelayMs: delaysMs[0] ?? 0,
    totalMs: delaysMs.reduce((total, delay) => total + delay, 0),
    longestDelayMs: Math.ceil(Math.max(MAX_RETRY_AFTER_MS, (1 + JITTER) * Math.max(...delaysMs))),
    nextDelayMs(step, retryAfterMs) {
      const delay = delaysMs[step]
      if (delay === undefined) return null
      const jittered = delay * (1 + JITTER * (2 * random() - 1))
      return Math.round(Math.max(jittered, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)))
    },
  }
}
