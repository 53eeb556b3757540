import { setTimeout as pause } from 'node:timers/promises'
import { backoffMs } from '../../lib/backoff.ts'

export interface OutageEvents {
  /** Something that is needed does not answer; told once, until it works again. */
  onOutage(reason: string): void
  onRecovered(): void
}

/** An outage of anything that is needed, from its first failure to the next success. */
export interface OutageTracker {
  reportFailure(reason: string): void
  reportSuccess(): void
  /** Waits, longer from time to time until something works again. `signal` ends it early. */
  backOff(signal: AbortSignal): Promise<void>
}

export function createOutageTracker({ onOutage, onRecovered }: OutageEvents): OutageTracker {
  let isOngoing = false
  let failures = 0

  return {
    reportFailure(reason) {
      if (!isOngoing) onOutage(reason)
      isOngoing = true
    },
    reportSuccess() {
      if (isOngoing) onRecovered()
      isOngoing = false
      failures = 0
    },
    async backOff(signal) {
      failures++
      await pause(backoffMs(failures), undefined, { signal }).catch(() => {})
    },
  }
}
