import { setTimeout as pause } from 'node:timers/promises'
import { backoffMs } from '../../lib/backoff.ts'

export interface OutageEvents {
  /** Something that is needed does not answer; told once, until it works again. */
  onOutage(reason: string): void
  onRecovered(): void
}

/** An outage of anything that is needed, from its first failure to the next success. */
export interface Outage {
  began(reason: string): void
  ended(): void
  /** Waits, longer from time to time until something works again. `signal` ends it early. */
  pause(signal: AbortSignal): Promise<void>
}

export function createOutage({ onOutage, onRecovered }: OutageEvents): Outage {
  let isOn = false
  let failedTries = 0

  return {
    began(reason) {
      if (!isOn) onOutage(reason)
      isOn = true
    },
    ended() {
      if (isOn) onRecovered()
      isOn = false
      failedTries = 0
    },
    async pause(signal) {
      failedTries++
      await pause(backoffMs(failedTries), undefined, { signal }).catch(() => {})
    },
  }
}
