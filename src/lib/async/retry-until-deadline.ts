import { Unavailable } from '../errors/unavailable.ts'
import { type Backoff, backoffMs } from './backoff.ts'
import { interruptiblePause } from './interruptible-pause.ts'

export interface RetryPolicy {
  /** After this many milliseconds the next failure is thrown instead of retried. */
  deadlineMs: number
  /** Completes the sentence "interrupted while …" of the error thrown when `signal` aborts. */
  activity: string
  signal?: AbortSignal | undefined
  backoff?: Backoff
  /** Called before each pause, `failures` counted from 1. An error it throws ends the retries. */
  onRetry?(error: Error, failures: number): void | Promise<void>
}

export interface RetryBudget {
  /** Records a failure, then pauses. @throws the error itself once the deadline has passed */
  backOff(error: Error): Promise<void>
  /** Restarts the backoff after progress; the deadline stays. */
  resetBackoff(): void
}

/**
 * The state of a retry loop with its own condition; {@link retryUntilDeadline} is the usual loop.
 */
export function createRetryBudget(policy: RetryPolicy): RetryBudget {
  const { deadlineMs, activity, signal, backoff, onRetry } = policy
  const endsAt = performance.now() + deadlineMs
  let failures = 0
  return {
    async backOff(error) {
      if (performance.now() > endsAt) throw error
      failures += 1
      await onRetry?.(error, failures)
      await interruptiblePause(backoffMs(failures, backoff), signal, activity)
    },
    resetBackoff() {
      failures = 0
    },
  }
}

/**
 * Retries idempotent work with exponential backoff while it throws {@link Unavailable}.
 * @throws Unavailable once the deadline has passed; any other error at once
 */
export async function retryUntilDeadline<T>(
  policy: RetryPolicy,
  work: () => Promise<T>,
): Promise<T> {
  const budget = createRetryBudget(policy)
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      await budget.backOff(error)
    }
  }
}
