export interface Deadline {
  /** Aborts with the caller's signal, or with a TimeoutError. */
  signal: AbortSignal
  /** Stops the timer. */
  end(): void
}

/**
 * Limits one try to `timeoutMs`. Node 20 may collect an `AbortSignal.timeout` that only
 * `AbortSignal.any` follows, and such a deadline never fires.
 */
export function startDeadline(timeoutMs: number, signal: AbortSignal | undefined): Deadline {
  const controller = new AbortController()
  const timer = setTimeout(
    () => controller.abort(new DOMException('The try timed out.', 'TimeoutError')),
    timeoutMs,
  )
  const onAbort = () => controller.abort(signal?.reason)
  if (signal?.aborted) onAbort()
  signal?.addEventListener('abort', onAbort, { once: true })
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    },
  }
}
