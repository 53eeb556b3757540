/** A bucket of `capacity` requests that refills at `refillPerSecond`: integers from 1 to a million. */
export interface BucketRate {
  capacity: number
  refillPerSecond: number
}

/**
 * A bucket is the debt it has run up, in millionths of a request, and the instant at which that was
 * counted. One microsecond repays `refillPerSecond` millionths: whole numbers below 2^53 throughout, so
 * that nothing is ever rounded and a script in Redis comes to the same decision.
 */
export interface BucketState {
  debt: number
  atMicros: number
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

export const FULL_BUCKET: BucketState = { debt: 0, atMicros: 0 }

/** What a request costs. */
const REQUEST = 1_000_000

/**
 * The generic cell rate algorithm (contract, "Limits"): takes one request, if there is one left. A denied
 * request leaves the state as it was. Pure.
 */
export function takeFromBucket(
  rate: BucketRate,
  state: BucketState,
  nowMicros: number,
): { decision: BucketDecision; state: BucketState } {
  const debt = debtAt(rate, state, nowMicros)
  if (debt + REQUEST > rate.capacity * REQUEST) {
    return { decision: bucketDecision(rate, false, debt), state }
  }
  const taken = debt + REQUEST
  return {
    decision: bucketDecision(rate, true, taken),
    state: { debt: taken, atMicros: nowMicros },
  }
}

/** What a caller is told, from the debt that the decision left. */
export function bucketDecision(
  { capacity, refillPerSecond }: BucketRate,
  allowed: boolean,
  debt: number,
): BucketDecision {
  const whole = capacity * REQUEST
  const secondsToRepay = (owed: number) => Math.ceil(owed / (refillPerSecond * REQUEST))
  return {
    allowed,
    // Below zero where the capacity was lowered after the debt was run up.
    remaining: Math.max(0, Math.floor((whole - debt) / REQUEST)),
    resetSeconds: secondsToRepay(debt),
    retryAfterSeconds: allowed ? 0 : Math.max(1, secondsToRepay(debt + REQUEST - whole)),
  }
}

function debtAt(
  { refillPerSecond }: BucketRate,
  { debt, atMicros }: BucketState,
  nowMicros: number,
) {
  // Either way: a clock that was set back must not keep a bucket empty until it has caught up.
  const elapsed = Math.abs(nowMicros - atMicros)
  // Never more than repays all of it: the product stays below 2^53.
  const repaying = Math.min(elapsed, Math.ceil(debt / refillPerSecond))
  return Math.max(0, debt - repaying * refillPerSecond)
}
