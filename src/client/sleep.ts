import { setTimeout as timeout } from 'node:timers/promises'

/** Waits so many milliseconds. @throws the signal's reason as soon as it aborts */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  try {
    await timeout(Math.ceil(ms), undefined, signal && { signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}
