import { setTimeout as timeout } from 'node:timers/promises'

/** What a timer can count to. */
const LONGEST_MS = 2 ** 31 - 1

/** Waits so many milliseconds. @throws the signal's reason as soon as it aborts */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  try {
    await timeout(Math.min(Math.ceil(ms), LONGEST_MS), undefined, signal && { signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

/** Waits for a promise that is always fulfilled. @throws the signal's reason as soon as it aborts */
export async function until(
  promise: Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal === undefined) return promise
  signal.throwIfAborted()
  const { reason, forget } = abortOf(signal)
  try {
    await Promise.race([promise, reason])
  } finally {
    forget()
  }
}

function abortOf(signal: AbortSignal) {
  let forget = () => {}
  const reason = new Promise<never>((_, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    forget = () => signal.removeEventListener('abort', onAbort)
  })
  return { reason, forget }
}
