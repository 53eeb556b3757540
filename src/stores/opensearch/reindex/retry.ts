import { setTimeout as pause } from 'node:timers/promises'
import { backoffMs } from '../../../lib/backoff.ts'
import { Unavailable } from '../../../lib/unavailable.ts'

export interface RetryOptions {
  /** Told why it is tried again. */
  onDelay(reason: string): void
  signal?: AbortSignal | undefined
  /** Throws when trying again leads nowhere. */
  assertRetryable(): Promise<void>
}

const GIVE_UP_MS = 300_000

/** Work that may be done twice, tried again while OpenSearch is not there. @throws Unavailable in the end */
export async function retry<T>(
  { onDelay, signal, assertRetryable }: RetryOptions,
  work: () => Promise<T>,
): Promise<T> {
  const endsAt = performance.now() + GIVE_UP_MS
  for (let attempts = 1; ; attempts++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Unavailable) || performance.now() > endsAt) throw error
      await assertRetryable()
      onDelay(`${error.message}; trying again`)
    }
    await pause(backoffMs(attempts), undefined, { signal })
  }
}
