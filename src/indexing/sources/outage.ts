import { setTimeout as pause } from 'node:timers/promises'
import { backoffMs } from '../../lib/backoff.ts'

export interface OutageEvents {
  /** Called once per outage, when a dependency first fails. */
  onOutage(reason: string): void
  onRecovered(): void
}

/** Tracks an outage of any dependency, from its first failure to the next success. */
export interface OutageTracker {
  reportFailure(reason: string): void
  reportSuccess(): void
  /** Pauses with exponential backoff until the next success. `signal` ends the pause. */
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
