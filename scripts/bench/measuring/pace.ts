import { setTimeout as sleep } from 'node:timers/promises'

export interface PaceOptions {
  /** A second. */
  rate: number
  seconds: number
  signal: AbortSignal
}

/** What a timer can wait at least, and about how late what is sent may be on a machine with time to spare. */
const TICK_MS = 1

/**
 * Calls `send` with the instants of what is due, on the clock of `performance.now()`, until `rate` times
 * `seconds` were due. It waits for none of them: who is slow is sent as much. What a stall held up is sent at
 * once, with the instants at which it was due: whoever counts from there also counts how late it was sent.
 * @throws what `send` throws
 */
export async function atPace(
  { rate, seconds, signal }: PaceOptions,
  send: (due: readonly number[]) => Promise<void>,
): Promise<void> {
  const total = Math.round(rate * seconds)
  const startedAt = performance.now()
  const dueAt = (place: number) => startedAt + (1000 * (place + 1)) / rate
  const underWay: Promise<void>[] = []
  let failure: { error: unknown } | undefined
  for (let sent = 0; sent < total && !failure; ) {
    signal.throwIfAborted()
    const now = performance.now()
    const due: number[] = []
    for (; sent < total && dueAt(sent) <= now; sent += 1) due.push(dueAt(sent))
    if (due.length > 0) {
      underWay.push(
        send(due).catch((error) => {
          failure ??= { error }
        }),
      )
    }
    await sleep(Math.max(TICK_MS, Math.floor(dueAt(sent) - performance.now())))
  }
  await Promise.all(underWay)
  if (failure) throw failure.error
}
