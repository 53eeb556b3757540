import { MINUTE_MS } from '../../lib/durations.ts'
import type { Attempt, Delivery } from './delivery.ts'
import type { RetrySchedule } from './retry-schedule.ts'

/** Probes of a long outage would otherwise let the row grow without bound. */
const MAX_ATTEMPTS_KEPT = 50

/**
 * Reads that find no order repeat for this long. By then one has met a node that is in the cluster,
 * or the dispatcher has lost its lease, whose renewal needs such a node.
 */
const MISSING_MS = 5 * MINUTE_MS
const FIRST_POSTPONEMENT_MS = 5_000

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
  const attempts = withAttempt(delivery, attempt)
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

/**
 * A pending delivery after an attempt without a request, because its order is missing. It is due
 * again after the time for which it has been missing, at least five seconds. After five minutes it is
 * canceled. It uses no step of the schedule, and later deliveries of the order wait for it as for a
 * failing one. `nowMs`: as for {@link recordAttempt}. Pure.
 */
export function recordMissing<T extends Delivery>(delivery: T, attempt: Attempt, nowMs: number): T {
  const attempts = withAttempt(delivery, attempt)
  const first = attempts[attempts.findLastIndex(({ error }) => error !== attempt.error) + 1]
  const missingMs = attempt.at - (first ?? attempt).at
  if (missingMs >= MISSING_MS) return { ...delivery, attempts, state: 'canceled', nextAt: null }
  return {
    ...delivery,
    attempts,
    firstFailedAt: delivery.firstFailedAt ?? nowMs,
    nextAt: nowMs + Math.max(missingMs, FIRST_POSTPONEMENT_MS),
  }
}

function withAttempt({ attempts }: Delivery, attempt: Attempt): Attempt[] {
  return [...attempts, attempt].slice(-MAX_ATTEMPTS_KEPT)
}
