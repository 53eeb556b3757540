import { setTimeout as sleep } from 'node:timers/promises'

/** Requests that are due at fixed instants. */
export interface Pace {
  /** Per second. */
  rate: number
  seconds: number
  signal: AbortSignal
}

/** The shortest delay of a timer, so about how late a request is sent on an idle machine. */
const TICK_MS = 1

/**
 * Calls `send` with the instants that are due until `rate` times `seconds` were due. It does not
 * wait for earlier calls. After a stall it sends all that is overdue at once, with the original
 * instants, so latencies include the delay.
 * @throws what `send` throws
 */
export async function atPace(
  { rate, seconds, signal }: Pace,
  send: (due: readonly number[]) => Promise<void>,
): Promise<void> {
  const total = Math.round(rate * seconds)
  const startedAt = performance.now()
  const dueAt = (place: number) => startedAt + (1000 * (place + 1)) / rate
  const inFlight: Promise<void>[] = []
  const failures: unknown[] = []
  for (let sent = 0; sent < total && failures.length === 0; ) {
    signal.throwIfAborted()
    const now = performance.now()
    const due: number[] = []
    for (; sent < total && dueAt(sent) <= now; sent += 1) due.push(dueAt(sent))
    if (due.length > 0) inFlight.push(send(due).catch((error) => void failures.push(error)))
    await sleep(Math.max(TICK_MS, Math.floor(dueAt(sent) - performance.now())))
  }
  await Promise.all(inFlight)
  if (failures.length > 0) throw failures[0]
}
