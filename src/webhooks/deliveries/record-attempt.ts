import type { Attempt, Delivery } from './delivery.ts'
import type { RetrySchedule } from './retry-schedule.ts'

/** Probes of a long outage would otherwise let the row grow without bound. */
const MAX_ATTEMPTS_KEPT = 50

/** The receiver wants no further webhooks. */
const GONE = 410

export interface RecordAttemptOptions {
  schedule: Pick<RetrySchedule, 'nextDelayMs'>
  /**
   * Epoch milliseconds, after the attempt. Of a clock that never steps back, unlike the instant of
   * the attempt.
   */
  nowMs: number
  retryAfterMs: number | null
  /** A failed probe of the circuit breaker uses no step of the schedule. */
  isProbe: boolean
}

/** Whether the receiver accepted the webhook. */
export function isSuccess({ status, error }: Pick<Attempt, 'status' | 'error'>): boolean {
  return error === null && status !== null && status >= 200 && status < 300
}

/** A pending delivery after an attempt: delivered, failed, expired, or pending again. Pure. */
export function recordAttempt<T extends Delivery>(
  delivery: T,
  attempt: Attempt,
  { schedule, nowMs, retryAfterMs, isProbe }: RecordAttemptOptions,
): T {
  const attempts = [...delivery.attempts, attempt].slice(-MAX_ATTEMPTS_KEPT)
  if (isSuccess(attempt)) return { ...delivery, attempts, state: 'delivered', nextAt: null }
  const firstFailedAt = delivery.firstFailedAt ?? nowMs
  const failed = { ...delivery, attempts, firstFailedAt }
  if (attempt.status === GONE) return { ...failed, state: 'failed', nextAt: null }
  if (isProbe) return failed
  const step = delivery.step + 1
  const delayMs = schedule.nextDelayMs(step, retryAfterMs)
  if (delayMs === null) return { ...failed, step, state: 'expired', nextAt: null }
  return { ...failed, step, nextAt: nowMs + delayMs }
}
