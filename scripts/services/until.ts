import { setTimeout as sleep } from 'node:timers/promises'

interface UntilOptions {
  timeoutMs: number
  everyMs: number
  /** Ends the waiting early, as when the program that is waited for has ended. */
  isHopeless(): boolean
}

/** Asks until the answer is yes. Throws with `tell`'s text when it has taken too long or is hopeless. */
export async function until(
  isSo: () => Promise<boolean>,
  tell: () => Promise<string>,
  { timeoutMs, everyMs, isHopeless }: UntilOptions,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await isSo())) {
    if (isHopeless() || performance.now() > deadline) throw new Error(await tell())
    await sleep(everyMs)
  }
}
