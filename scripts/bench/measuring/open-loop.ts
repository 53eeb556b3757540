import { Client } from 'undici'
import { type LoadRequest, send, type Target } from './generator.ts'
import { atPace } from './pace.ts'

/** What came of a request that was to be sent at its instant, whoever was slow. */
export interface Arrival {
  /** When it was to be sent, on the clock of `performance.now()`. */
  dueAt: number
  /** When it was: later where this process was held up. */
  sentAt: number
  /** From when it was due until its last byte: a wait before it was sent is one that a caller would have had. */
  ms: number
  /** Absent: 200 with the orders that were expected. */
  failure: string | undefined
}

export interface Arriving {
  /** A second. */
  rate: number
  seconds: number
  signal: AbortSignal
}

export interface OpenLoop {
  /** Sends the requests in turn at a rate, and waits for all answers. */
  run(requests: readonly LoadRequest[], arriving: Arriving): Promise<Arrival[]>
  close(): Promise<void>
}

const STALLED_MS = 10_000

/** Callers who know nothing of each other: one who finds all connections in use opens another. */
export function createOpenLoop({ origins, ca }: Target): OpenLoop {
  const clients: Client[] = []
  const idle: Client[] = []
  let turn = 0

  function connect(): Client {
    const client = new Client(origins[clients.length % origins.length] ?? '', {
      pipelining: 1,
      headersTimeout: STALLED_MS,
      bodyTimeout: STALLED_MS,
      ...(ca !== undefined && { connect: { ca } }),
    })
    clients.push(client)
    return client
  }

  return {
    async run(requests, arriving) {
      const arrivals: Arrival[] = []

      async function sendOne(dueAt: number): Promise<void> {
        const request = requests[turn++ % requests.length]
        if (!request) throw new Error('there is nothing to send')
        const client = idle.pop() ?? connect()
        const sentAt = performance.now()
        const failure = await send(client, request)
        arrivals.push({ dueAt, sentAt, ms: performance.now() - dueAt, failure })
        idle.push(client)
      }

      await atPace(arriving, async (due) => {
        await Promise.all(due.map(sendOne))
      })
      return arrivals
    },

    async close() {
      await Promise.all(clients.map((client) => client.destroy()))
    },
  }
}
