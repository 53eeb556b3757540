import { setTimeout as delay } from 'node:timers/promises'

/** The longest delay that a Node timer supports. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Waits `ms` milliseconds. @throws the signal's reason as soon as it aborts */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  try {
    await delay(Math.min(Math.ceil(ms), MAX_TIMER_MS), undefined, signal && { signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}
