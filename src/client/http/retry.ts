import { backoffMs } from '../../lib/async/backoff.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import { ApiError, ConnectionError, EdgeError, UnexpectedResponseError } from '../errors.ts'

const BACKOFF = { firstMs: 500, longestMs: 30_000 }
/** The edge's usual `Retry-After` on 429, for a response that lost the header. */
const EDGE_RETRY_AFTER_MS = 5 * MINUTE_MS
/** Tries at an address that never responded as this API does: it is probably wrong. */
const MAX_TRIES_UNKNOWN = 3
/** How long an address that never responded may be unavailable: a short restart of the service. */
const RESTART_MS = MINUTE_MS
/** What a load balancer returns while the service behind it restarts. */
const UNAVAILABLE = new Set([502, 503, 504])
/** Tries at a known address that now returns something else, such as a captive portal. */
const MAX_TRIES_UNEXPECTED = 5

export interface Attempt {
  /** Failed tries of this call, counted from 1. */
  failedTries: number
  /** Whether this API has ever responded to this client. */
  isKnown: boolean
  /** Milliseconds since the start of the call. */
  elapsedMs: number
}

/**
 * Milliseconds until a failed call is retried; `null` if a retry cannot succeed. Every call is a
 * read, so a retry is safe. An address without any response of this API has three tries. A 502, 503
 * or 504, which may be a restart, is retried for about a minute. `random` (0 to 1) is the jitter
 * that spreads clients over time.
 */
export function retryDelayMs(error: unknown, attempt: Attempt, random: number): number | null {
  const backoff = Math.round(backoffMs(attempt.failedTries, BACKOFF) * (0.5 + random / 2))
  if (error instanceof ApiError || error instanceof EdgeError || isGatewayError(error)) {
    const { status, retryAfterSeconds } = error
    const retryAfterMs = retryAfterSeconds === null ? null : retryAfterSeconds * 1000
    if (status === 429) {
      const fallbackMs = error instanceof EdgeError ? EDGE_RETRY_AFTER_MS : 0
      // At least the backoff: `Retry-After: 0` would otherwise become a busy loop.
      return Math.max(retryAfterMs ?? fallbackMs, backoff)
    }
    const mayRetry = UNAVAILABLE.has(status)
      ? attempt.isKnown || attempt.elapsedMs < RESTART_MS
      : attempt.isKnown || attempt.failedTries < MAX_TRIES_UNKNOWN
    return status >= 500 && mayRetry ? Math.max(retryAfterMs ?? 0, backoff) : null
  }
  if (error instanceof ConnectionError) {
    if (error.isFinal) return null
    return attempt.isKnown || attempt.failedTries < MAX_TRIES_UNKNOWN ? backoff : null
  }
  if (error instanceof UnexpectedResponseError) {
    return attempt.isKnown && attempt.failedTries < MAX_TRIES_UNEXPECTED ? backoff : null
  }
  return null
}

/**
 * A gateway that sets a `Request-Id` and no error of this API. Its 429, 502, 503 and 504 are as
 * those of the edge.
 */
function isGatewayError(error: unknown): error is UnexpectedResponseError {
  if (!(error instanceof UnexpectedResponseError)) return false
  return error.status === 429 || UNAVAILABLE.has(error.status)
}
