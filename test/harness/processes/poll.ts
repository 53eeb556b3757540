import { setTimeout as sleep } from 'node:timers/promises'

interface PollOptions {
  timeoutMs: number
  intervalMs: number
  /** Stops polling early, for example when the awaited program exits. */
  shouldAbort(): boolean
}

/** Polls until `true`. Throws the text of `describe` on a timeout or an early stop. */
export async function poll(
  isSo: () => Promise<boolean>,
  describe: () => Promise<string>,
  { timeoutMs, intervalMs, shouldAbort }: PollOptions,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await isSo())) {
    if (shouldAbort() || performance.now() > deadline) throw new Error(await describe())
    await sleep(intervalMs)
  }
}
