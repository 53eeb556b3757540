import { setTimeout } from 'node:timers/promises'

/**
 * Waits `ms` milliseconds.
 * @throws Error `interrupted while <activity>` when `signal` aborts first
 */
export async function interruptiblePause(
  ms: number,
  signal: AbortSignal | undefined,
  activity: string,
): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal })
  } catch (cause) {
    throw new Error(`interrupted while ${activity}`, { cause })
  }
}
