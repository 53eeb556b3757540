/** A token bucket of `capacity` requests with a refill rate: integers from 1 to a million. */
export interface BucketRate {
  capacity: number
  refillPerSecond: number
}

/**
 * The debt of a bucket in millionths of a request, at a point in time. One microsecond repays
 * `refillPerSecond` millionths. All numbers are integers below 2^53: nothing is rounded, and a
 * script in Redis computes the same decision. Change that script with this file: TAKE_FROM_BUCKET
 * of `src/stores/redis/shared-counters.ts`. `test/contract/redis-bucket.test.ts` compares the two.
 */
export interface BucketState {
  debt: number
  atMicros: number
}

/** The state of a bucket for response headers, in whole requests and seconds. */
export interface BucketDecision {
  allowed: boolean
  /** Requests left. */
  remaining: number
  /** Seconds, rounded up, until the bucket is full again. */
  resetSeconds: number
  /** Seconds, at least 1, until a request is allowed; 0 when this one is allowed. */
  retryAfterSeconds: number
}

export const FULL_BUCKET: BucketState = { debt: 0, atMicros: 0 }

/** Cost of one request. */
const REQUEST = 1_000_000

/**
 * The [generic cell rate algorithm](https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm):
 * takes one request if one is left. A denied request does not change the state. Pure.
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

/** Converts the debt after the decision to requests and seconds. */
export function bucketDecision(
  { capacity, refillPerSecond }: BucketRate,
  allowed: boolean,
  debt: number,
): BucketDecision {
  const whole = capacity * REQUEST
  const secondsToRepay = (owed: number) => Math.ceil(owed / (refillPerSecond * REQUEST))
  return {
    allowed,
    // Negative after a configuration change lowered the capacity.
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
  // Absolute, so that a clock set back does not keep the bucket empty until it catches up.
  const elapsed = Math.abs(nowMicros - atMicros)
  // Bounded by the time that repays the whole debt, so that the product stays below 2^53.
  const repaying = Math.min(elapsed, Math.ceil(debt / refillPerSecond))
  return Math.max(0, debt - repaying * refillPerSecond)
}
