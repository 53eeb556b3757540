import { setTimeout as pause } from 'node:timers/promises'
import { backoffMs } from '../../../lib/backoff.ts'
import { Unavailable } from '../../../lib/unavailable.ts'

export interface Patience {
  /** Told why it is tried again. */
  onDelay(reason: string): void
  signal?: AbortSignal | undefined
  /** Throws when trying again leads nowhere. */
  checkHope(): Promise<void>
}

const GIVE_UP_MS = 300_000

/** Work that may be done twice, tried again while OpenSearch is not there. @throws Unavailable in the end */
export async function patiently<T>(
  { onDelay, signal, checkHope }: Patience,
  work: () => Promise<T>,
): Promise<T> {
  const endsAt = performance.now() + GIVE_UP_MS
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Unavailable) || performance.now() > endsAt) throw error
      await checkHope()
      onDelay(`${error.message}; trying again`)
    }
    await pause(backoffMs(tries), undefined, { signal })
  }
}
