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
/** Consecutive ones, of the usual eight. Time alone also passes while no dispatcher runs. */
const MISSING_READS = 6
const SHORTEST_UNREAD_MS = 5_000
const LONGEST_UNREAD_MS = 5 * MINUTE_MS

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
  // No order waits for a test event. First in the queue, it would be every next probe.
  if (isProbe) return delivery.event.orderId === null ? { ...failed, nextAt: nowMs } : failed
  const step = delivery.step + 1
  const delayMs = schedule.nextDelayMs(step, retryAfterMs)
  if (delayMs === null) return { ...failed, step, state: 'expired', nextAt: null }
  return { ...failed, step, nextAt: nowMs + delayMs }
}

/**
 * A pending delivery after an attempt without a request, because its order could not be read. It is
 * due again after the time for which this lasts, from five seconds to five minutes. It uses no step
 * of the schedule, and later deliveries of the order wait for it as for a failing one. An order
 * that is missing for five minutes, and in six reads, makes it canceled. `nowMs`: as for {@link
 * recordAttempt}. Pure.
 */
export function recordUnread<T extends Delivery>(
  delivery: T,
  attempt: Attempt,
  { isMissing, nowMs }: { isMissing: boolean; nowMs: number },
): T {
  const attempts = withAttempt(delivery, attempt)
  const reads = attempts.slice(attempts.findLastIndex(({ error }) => error !== attempt.error) + 1)
  const [first = attempt] = reads
  const firstFailedAt = delivery.firstFailedAt ?? nowMs
  // At most since then: the attempts before a resend stay.
  const unreadMs = Math.min(attempt.at - first.at, nowMs - firstFailedAt)
  const isOverdue = isMissing && unreadMs >= MISSING_MS
  if (isOverdue && reads.length >= MISSING_READS) {
    return { ...delivery, attempts, state: 'canceled', nextAt: null }
  }
  const waitMs = isOverdue ? SHORTEST_UNREAD_MS : Math.min(unreadMs, LONGEST_UNREAD_MS)
  const delayMs = Math.max(waitMs, SHORTEST_UNREAD_MS)
  return { ...delivery, attempts, firstFailedAt, nextAt: nowMs + delayMs }
}

function withAttempt({ attempts }: Delivery, attempt: Attempt): Attempt[] {
  return [...attempts, attempt].slice(-MAX_ATTEMPTS_KEPT)
}
