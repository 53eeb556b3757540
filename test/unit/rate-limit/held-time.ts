import { vi } from 'vitest'

/** Fakes timers only; the event loop is real. */
export const holdTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })

/** Waits for one turn of the event loop. */
export const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Advances the timers and settles what they trigger. */
export async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
  await turn()
  await turn()
}
