import { setTimeout as pause } from 'node:timers/promises'

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

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

export function createOutage({ onOutage, onRecovered }: OutageEvents): Outage {
  let isOn = false
  let pauseMs = FIRST_PAUSE_MS

  return {
    began(reason) {
      if (!isOn) onOutage(reason)
      isOn = true
    },
    ended() {
      if (isOn) onRecovered()
      isOn = false
      pauseMs = FIRST_PAUSE_MS
    },
    async pause(signal) {
      await pause(pauseMs, undefined, { signal }).catch(() => {})
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    },
  }
}
