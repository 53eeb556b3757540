import { Client } from 'undici'
import { type LoadRequest, send } from './generator.ts'
import { atPace } from './pace.ts'

/** What came of a request that was sent when it was due, whoever was slow. */
export interface Arrival {
  /** When it was sent, on the clock of `performance.now()`. */
  sentAt: number
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
export function createOpenLoop(origin: string): OpenLoop {
  const clients: Client[] = []
  const idle: Client[] = []
  let turn = 0

  function connect(): Client {
    const times = { headersTimeout: STALLED_MS, bodyTimeout: STALLED_MS }
    const client = new Client(origin, { pipelining: 1, ...times })
    clients.push(client)
    return client
  }

  return {
    async run(requests, arriving) {
      const arrivals: Arrival[] = []

      async function sendOne(): Promise<void> {
        const request = requests[turn++ % requests.length]
        if (!request) throw new Error('there is nothing to send')
        const client = idle.pop() ?? connect()
        const sentAt = performance.now()
        const failure = await send(client, request)
        arrivals.push({ sentAt, ms: performance.now() - sentAt, failure })
        idle.push(client)
      }

      await atPace(arriving, async (count) => {
        await Promise.all(Array.from({ length: count }, sendOne))
      })
      return arrivals
    },

    async close() {
      await Promise.all(clients.map((client) => client.destroy()))
    },
  }
}
