import { setTimeout as sleep } from 'node:timers/promises'

interface PollOptions {
  timeoutMs: number
  intervalMs: number
  /** Ends the waiting early, as when the program that is waited for has ended. */
  shouldAbort(): boolean
}

/** Asks until the answer is yes. Throws with `tell`'s text when it has taken too long or is hopeless. */
export async function poll(
  isSo: () => Promise<boolean>,
  tell: () => Promise<string>,
  { timeoutMs, intervalMs, shouldAbort }: PollOptions,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await isSo())) {
    if (shouldAbort() || performance.now() > deadline) throw new Error(await tell())
    await sleep(intervalMs)
  }
}
