import type { Clock } from '../../lib/clock.ts'
import type { Attempt, StoredDelivery } from '../deliveries/delivery.ts'
import { isSuccess, recordAttempt, recordUnread } from '../deliveries/record-attempt.ts'
import type { RetrySchedule } from '../deliveries/retry-schedule.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { afterFailure, afterSuccess } from '../endpoints/endpoint-health.ts'
import { type AttemptResult, isUnread } from './attempts.ts'
import type { AttemptOutcome, DispatcherEvents } from './dispatcher-events.ts'
import type { HealthWriter } from './health/health-writer.ts'
import type { Lane } from './lanes/lane.ts'
import type { RequestShare } from './lanes/lane-scheduler.ts'
import type { ResultWriter } from './result-writer.ts'

/** An attempt in progress, until its result is stored. */
export interface Flight {
  lane: Lane
  endpoint: Endpoint
  delivery: StoredDelivery
  isProbe: boolean
  share: RequestShare
  /** Monotonic milliseconds. */
  startedAt: number
}

export interface SentRecorderOptions {
  schedule: RetrySchedule
  results: Pick<ResultWriter<Flight>, 'add'>
  health: Pick<HealthWriter, 'set'>
  events: Pick<DispatcherEvents, 'onAttempt' | 'onBreaker'>
  /** Epoch milliseconds. */
  clock: Clock
  /** The same, but it never steps back: for the instants of deliveries. */
  dueClock: Clock
  monotonic: Clock
}

type RecordedResult = Extract<AttemptResult, { attempt: Attempt }>
type SentResult = Extract<RecordedResult, { kind: 'sent' }>
type UnreadResult = Extract<RecordedResult, { kind: 'unread' }>

/**
 * Creates a function that records an attempt in the delivery, which is stored soon. Unless the
 * order could not be read, it also records it in the endpoint's health and limits.
 */
export function createSentRecorder({
  schedule,
  results,
  health,
  events,
  clock,
  dueClock,
  monotonic,
}: SentRecorderOptions): (flight: Flight, result: RecordedResult) => void {
  function record(flight: Flight, result: RecordedResult): void {
    const nowMs = clock()
    const next =
      result.kind === 'sent' ? afterSent(flight, result, nowMs) : afterUnread(flight, result)
    if (next.state === 'failed') {
      flight.lane.isStopped = true
      flight.lane.unstoredRefusals += 1
    }
    results.add({ context: flight, next })
    report(flight, result.attempt, next, nowMs)
  }

  function afterSent(flight: Flight, { attempt, retryAfterMs }: SentResult, nowMs: number) {
    if (isSuccess(attempt)) handleSuccess(flight, nowMs)
    else handleFailure(flight, attempt, retryAfterMs, nowMs)
    const { delivery, isProbe } = flight
    const options = { schedule, nowMs: dueClock(), retryAfterMs, isProbe }
    return recordAttempt(delivery, attempt, options)
  }

  function afterUnread({ lane, delivery, isProbe }: Flight, { attempt, isMissing }: UnreadResult) {
    if (isProbe) lane.breaker.postponeProbe(monotonic())
    return recordUnread(delivery, attempt, { isMissing, nowMs: dueClock() })
  }

  function handleSuccess({ lane, share }: Flight, nowMs: number): void {
    const { breaker, concurrency, queue } = lane
    lane.isSlow = share.isSlow
    lane.lastSucceededAt = monotonic()
    lane.failures = null
    const wasOpen = breaker.isOpen()
    breaker.recordSuccess()
    health.set(lane, afterSuccess(lane.health, nowMs))
    if (!wasOpen) {
      concurrency.recordSuccess()
      return
    }
    concurrency.restart()
    queue.resume(dueClock())
    events.onBreaker(lane.endpointId, false)
  }

  function handleFailure(
    { lane, delivery, isProbe }: Flight,
    { at, status }: Attempt,
    retryAfterMs: number | null,
    nowMs: number,
  ): void {
    const { breaker, concurrency, queue } = lane
    const wasOpen = breaker.isOpen()
    lane.failures = { firstAt: lane.failures?.firstAt ?? nowMs, lastAt: nowMs }
    const subject = delivery.event.orderId ?? delivery.id
    const isRetry = delivery.firstFailedAt !== null && !delivery.attempts.every(isUnread)
    breaker.recordFailure({ subject, isProbe, isRetry, retryAfterMs, nowMs: monotonic() })
    concurrency.recordFailure(status)
    health.set(lane, afterFailure(lane.health, at, breaker.isOpen()))
    if (wasOpen || !breaker.isOpen()) return
    queue.suspend()
    events.onBreaker(lane.endpointId, true)
  }

  function report(
    { lane, delivery, isProbe }: Flight,
    { at, status, error }: Attempt,
    next: StoredDelivery,
    nowMs: number,
  ): void {
    const { event } = delivery
    events.onAttempt({
      deliveryId: delivery.id,
      endpointId: lane.endpointId,
      accountId: delivery.accountId,
      eventId: event.id,
      type: event.type,
      attempt: delivery.attempts.length + 1,
      recordedAt: event.recordedAt,
      startedAt: at,
      endedAt: nowMs,
      status,
      error,
      outcome: outcomeOf(next),
      isProbe,
    })
  }

  return record
}

function outcomeOf({ state }: StoredDelivery): AttemptOutcome {
  return state === 'pending' || state === 'held' ? 'retrying' : state
}
