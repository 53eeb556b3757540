import { setTimeout as sleep } from 'node:timers/promises'

export interface PaceOptions {
  /** A second. */
  rate: number
  seconds: number
  signal: AbortSignal
}

const TICK_MS = 10

/**
 * Calls `send` with how many are due, every few milliseconds, until `rate` times `seconds` were due. It
 * waits for none of them: who is slow is sent as much. What a stall held up is due at once.
 * @throws what `send` throws
 */
export async function atPace(
  { rate, seconds, signal }: PaceOptions,
  send: (count: number) => Promise<void>,
): Promise<void> {
  const total = rate * seconds
  const startedAt = performance.now()
  const underWay: Promise<void>[] = []
  let failure: { error: unknown } | undefined
  for (let sent = 0; sent < total && !failure; ) {
    signal.throwIfAborted()
    const dueByNow = Math.floor((rate * (performance.now() - startedAt)) / 1000)
    const count = Math.min(total, dueByNow) - sent
    if (count > 0) {
      sent += count
      underWay.push(
        send(count).catch((error) => {
          failure ??= { error }
        }),
      )
    }
    await sleep(TICK_MS)
  }
  await Promise.all(underWay)
  if (failure) throw failure.error
}
