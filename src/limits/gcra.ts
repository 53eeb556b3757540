/** A bucket of `capacity` requests that refills at `refillPerSecond`. */
export interface BucketRate {
  capacity: number
  refillPerSecond: number
}

/** What a caller is told of its bucket, in whole requests and seconds. */
export interface BucketDecision {
  allowed: boolean
  /** Requests left now. */
  remaining: number
  /** Seconds, rounded up, until the bucket is full again. */
  resetSeconds: number
  /** Seconds, at least 1, until a request would pass; 0 when this one did. */
  retryAfterSeconds: number
}

/**
 * The generic cell rate algorithm (contract, "Limits"): the whole bucket is one number, the instant at
 * which it will be full again (`fullAtMs`; anything in the past: full now). A denied request leaves it
 * as it was. Pure; all times in the same milliseconds.
 */
export function takeFromBucket(
  { capacity, refillPerSecond }: BucketRate,
  fullAtMs: number,
  nowMs: number,
): BucketDecision & { fullAtMs: number } {
  const requestMs = 1000 / refillPerSecond
  const bucketMs = capacity * requestMs
  const slackMs = Math.max(1e-6, nowMs * ROUNDING)
  const debtMs = Math.max(0, fullAtMs - nowMs)
  const allowed = debtMs + requestMs <= bucketMs + slackMs
  const debtAfterMs = allowed ? debtMs + requestMs : debtMs

  return {
    allowed,
    remaining: Math.max(0, Math.floor((bucketMs - debtAfterMs + slackMs) / requestMs)),
    resetSeconds: Math.ceil((debtAfterMs - slackMs) / 1000),
    retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((debtMs + requestMs - bucketMs) / 1000)),
    fullAtMs: nowMs + debtAfterMs,
  }
}

// Times are rounded to what a double of their size can tell, a quarter of a microsecond today; that must
// not cost a caller the last request of a bucket. A few such steps, as a share of the time:
const ROUNDING = 2 ** -50
