/** How many requests an endpoint may have in flight: additive increase, multiplicative decrease. */
export interface AdaptiveConcurrency {
  limit(): number
  recordSuccess(): void
  /** `status`: of the response; `null` without one. */
  recordFailure(status: number | null): void
  /** Starts again from one request. */
  restart(): void
}

/** For an endpoint that has succeeded before. */
export const INITIAL_CONCURRENCY = 8
const MAX_CONCURRENCY = 32
/** Too many requests, or a receiver that is down: more requests at once would not succeed. */
const OVERLOADED: readonly (number | null)[] = [429, 502, 503, 504]

/** Raises the limit by one after as many successes, and halves it after a failure. */
export function createAdaptiveConcurrency(initial: number): AdaptiveConcurrency {
  let limit = initial
  let successes = 0

  function lower(to: number): void {
    limit = Math.max(1, to)
    successes = 0
  }

  return {
    limit: () => limit,
    recordSuccess() {
      successes += 1
      if (successes < limit || limit === MAX_CONCURRENCY) return
      limit += 1
      successes = 0
    },
    recordFailure: (status) => lower(OVERLOADED.includes(status) ? 1 : Math.floor(limit / 2)),
    restart: () => lower(1),
  }
}
