import { setTimeout as pause } from 'node:timers/promises'

/**
 * The result of `work` within `deadlineMs`, which may have passed. The work continues after a
 * timeout, so its effect is unknown then.
 * @throws the error of `onTimeout`, or that of the work
 */
export async function withDeadline<T>(
  work: () => Promise<T>,
  deadlineMs: number,
  onTimeout: () => Error,
): Promise<T> {
  const finished = new AbortController()
  const timeout = pause(Math.max(0, deadlineMs), undefined, { signal: finished.signal }).then(
    () => {
      throw onTimeout()
    },
  )
  try {
    return await Promise.race([work(), timeout])
  } finally {
    timeout.catch(() => {})
    finished.abort()
  }
}
