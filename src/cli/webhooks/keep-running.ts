import { setTimeout as pause } from 'node:timers/promises'
import { type Backoff, backoffMs } from '../../lib/async/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import { MINUTE_MS, SECOND_MS } from '../../lib/durations.ts'

export interface KeepRunningOptions {
  signal: AbortSignal
  monotonic: Clock
  /** Between a failure and the next run. */
  backoff?: Backoff
  onFailure(error: unknown, retryMs: number): void
}

export interface KeptRun {
  /** Never rejects. */
  ended: Promise<void>
  /** Whether a run failed within the last five minutes. */
  isDegraded(): boolean
}

const BACKOFF: Backoff = { firstMs: SECOND_MS, longestMs: MINUTE_MS }
/** Longer than a backoff, so that repeated failures are one state. */
const DEGRADED_MS = 5 * MINUTE_MS

/** Runs a part of a process again after each failure, until `signal` aborts or a run ends. */
export function keepRunning(run: () => Promise<void>, options: KeepRunningOptions): KeptRun {
  const { signal, monotonic, backoff = BACKOFF, onFailure } = options
  let failures = 0
  let failedAt = Number.NEGATIVE_INFINITY
  const isDegraded = () => monotonic() - failedAt < DEGRADED_MS

  async function repeat(): Promise<void> {
    while (!signal.aborted) {
      try {
        await run()
        return
      } catch (error) {
        failures = isDegraded() ? failures + 1 : 1
        failedAt = monotonic()
        const retryMs = backoffMs(failures, backoff)
        onFailure(error, retryMs)
        await pause(retryMs, undefined, { signal }).catch(() => {})
      }
    }
  }

  return { ended: repeat(), isDegraded }
}
