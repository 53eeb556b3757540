import { setTimeout as pause } from 'node:timers/promises'
import { Unavailable } from '../../../lib/unavailable.ts'

export interface Patience {
  /** Told why it is tried again. */
  onDelay(reason: string): void
  signal?: AbortSignal | undefined
  /** Throws when trying again leads nowhere. */
  checkHope(): Promise<void>
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
const GIVE_UP_MS = 300_000

/** Work that may be done twice, tried again while OpenSearch is not there. @throws Unavailable in the end */
export async function patiently<T>(
  { onDelay, signal, checkHope }: Patience,
  work: () => Promise<T>,
): Promise<T> {
  const endsAt = performance.now() + GIVE_UP_MS
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Unavailable) || performance.now() > endsAt) throw error
      await checkHope()
      onDelay(`${error.message}; trying again`)
    }
    await pause(pauseMs, undefined, { signal: signal })
  }
}
