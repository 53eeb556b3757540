import type { AccountEvent } from '../events/event-record.ts'
import type { TEST_EVENT } from '../events/event-types.ts'

/** A test event concerns no order. */
export type DeliveredEvent =
  | AccountEvent
  | (Omit<AccountEvent, 'type' | 'orderId' | 'sequence'> & {
      type: typeof TEST_EVENT
      orderId: null
      sequence: null
    })

/**
 * `held`: its endpoint is disabled. `expired`: no attempt or time is left. `failed`: the receiver
 * returned 410. `canceled`: the endpoint was deleted, or the account has no view of the order.
 */
export const deliveryStates = [
  'pending',
  'delivered',
  'failed',
  'held',
  'canceled',
  'expired',
] as const
export type DeliveryState = (typeof deliveryStates)[number]

/**
 * No attempt follows, and the receiver did not accept the event. An index of SQLite has these
 * states: a further one needs a migration.
 */
export const FAILED_STATES: readonly DeliveryState[] = ['failed', 'expired']

export interface Attempt {
  /** Epoch milliseconds. */
  at: number
  /** The HTTP status; `null` without a response. */
  status: number | null
  /** Why it failed; `null` for a 2xx. */
  error: string | null
  durationMs: number
  /** The body that was sent. */
  bodySha256: string
  bodyBytes: number
  /** At most 512 bytes of the response, kept for 7 days. */
  excerpt: string | null
}

/** The delivery of one event to one endpoint. */
export interface Delivery {
  /** Derived from the event and the endpoint, so a repeated fan-out creates no second one. */
  id: string
  endpointId: string
  accountId: string
  event: DeliveredEvent
  state: DeliveryState
  /** When the next attempt is due, epoch milliseconds; `null` unless pending. */
  nextAt: number | null
  /** Oldest first. A resend keeps those before it. */
  attempts: readonly Attempt[]
  /** Steps of the retry schedule that are used up. Probes of the circuit breaker use none. */
  step: number
  /** The first failure since it became pending, epoch milliseconds. */
  firstFailedAt: number | null
  /** When it was held, epoch milliseconds. */
  heldAt: number | null
}

/** A delivery as read, with the state that a write must still find. */
export interface StoredDelivery extends Delivery {
  /** Opaque to all but the store. */
  revision: unknown
}

export interface Replay {
  endpointId: string
  /**
   * Of events recorded at or after this instant, epoch milliseconds. Of earlier events, what failed
   * or expired and meets {@link isReplayed}.
   */
  sinceMs: number
  /** Only what failed or expired; otherwise also what was delivered. */
  failedOnly: boolean
  nowMs: number
}

type EndedDelivery = Pick<Delivery, 'state' | 'attempts' | 'firstFailedAt' | 'heldAt'> & {
  event: Pick<DeliveredEvent, 'recordedAt'>
}

/**
 * Whether a replay sends an ended delivery again, whose state it includes. Of an earlier event,
 * only one that began to fail, was held or got its 410 since then. The first failure of an endpoint
 * has an older event. Nothing that was delivered after the call, because a busy endpoint always has
 * more of it and its replay would not end. Pure.
 */
export function isReplayed(
  { state, event, attempts, firstFailedAt, heldAt }: EndedDelivery,
  { sinceMs, nowMs }: Pick<Replay, 'sinceMs' | 'nowMs'>,
): boolean {
  const lastAt = attempts.at(-1)?.at ?? null
  if (state === 'delivered') return event.recordedAt >= sinceMs && (lastAt ?? 0) <= nowMs
  const instants = [event.recordedAt, firstFailedAt, heldAt, state === 'failed' ? lastAt : null]
  return instants.some((at) => at !== null && at >= sinceMs)
}

/** What a delivery has that is due at an instant, with a new retry schedule. Its attempts stay. */
export const pendingAt = (nextAt: number) =>
  ({ state: 'pending', nextAt, step: 0, firstFailedAt: null, heldAt: null }) as const

/** The attempts, those before an instant without their excerpts. */
export function withoutExcerpts(attempts: readonly Attempt[], beforeMs: number): Attempt[] {
  return attempts.map((attempt) =>
    attempt.at < beforeMs ? { ...attempt, excerpt: null } : attempt,
  )
}
