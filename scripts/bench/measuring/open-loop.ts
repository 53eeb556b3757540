import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'undici'
import { connect, type LoadRequest, send, type Target } from './request.ts'

/** The outcome of a request that was due at a fixed instant, however slow the service was. */
export interface Arrival {
  /** When it was due, on the clock of `performance.now()`. */
  dueAt: number
  /** When it was sent: later than due where this process was busy. */
  sentAt: number
  /** From due to the last byte: a delay before sending is one that a caller would have seen. */
  ms: number
  /** Absent where the response was the expected one. */
  failure: string | undefined
}

export interface Pace {
  /** Per second. */
  rate: number
  seconds: number
  signal: AbortSignal
}

export interface OpenLoop extends AsyncDisposable {
  /** Sends the requests in rotation at a rate, and waits for all responses. */
  run(requests: readonly LoadRequest[], pace: Pace): Promise<Arrival[]>
}

/** The shortest delay of a timer, so about how late a request is sent on an idle machine. */
const TICK_MS = 1

/** Independent callers: a request that finds all connections busy opens another one. */
export function createOpenLoop(target: Target): OpenLoop {
  const clients: Client[] = []
  const idle: Client[] = []
  let turn = 0

  function open(): Client {
    const client = connect(target, clients.length)
    clients.push(client)
    return client
  }

  return {
    async run(requests, pace) {
      const arrivals: Arrival[] = []
      const sendOne = async (dueAt: number) => {
        const request = requests[turn++ % requests.length]
        if (!request) throw new Error('there is no request to send')
        const client = idle.pop() ?? open()
        const sentAt = performance.now()
        const failure = await send(client, request)
        arrivals.push({ dueAt, sentAt, ms: performance.now() - dueAt, failure })
        idle.push(client)
      }
      await atPace(pace, async (due) => void (await Promise.all(due.map(sendOne))))
      return arrivals
    },

    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.destroy()))
    },
  }
}

/**
 * Calls `send` with the instants that are due, on the clock of `performance.now()`, until `rate` times
 * `seconds` were due. It does not wait for earlier calls. After a stall it sends all that is overdue at
 * once, with the original instants, so latencies include the delay.
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
