import { Client, type Dispatcher } from 'undici'
import { percentile } from './figures.ts'

/** A request that is sent over and over. */
export interface LoadRequest {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: Buffer
  /** 200 when absent. */
  expectedStatus?: number
  /** Of its answer, as it was when it was checked; what tells the time taken may be a few bytes longer. */
  expectedBytes?: number
}

/** Where requests go. */
export interface Target {
  /** Connections take turns on them. */
  origins: readonly string[]
  /** PEM of the authority that signed the certificates; the system's own when absent. */
  ca?: string | undefined
}

/** What came of sending for a while. */
export interface LoadFigures {
  answers: number
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** What was not an answer as expected → how often. */
  failures: Record<string, number>
}

export interface Generator {
  /** One request, to look at its answer. */
  ask(request: LoadRequest): Promise<Buffer>
  /** Sends the requests in turn over all connections, the next when the last has ended, for `ms`. */
  run(requests: readonly LoadRequest[], ms: number, signal: AbortSignal): Promise<LoadFigures>
  close(): Promise<void>
}

/** Shorter by far than an order, so a page that lacks one is never taken for whole. */
const LENGTH_TOLERANCE_BYTES = 32
const STALLED_MS = 10_000

/**
 * A closed loop of our own, since autocannon counts in whole milliseconds and a page takes one to five of
 * them. It is the same for every side that is compared, and runs in the bench's process: the service and
 * the servers have processes of their own, so its CPU time is counted apart. Of so many requests at a time,
 * those that share a connection wait for each other.
 */
export function createGenerator(
  { origins, ca }: Target,
  atATime: number,
  connections = atATime,
): Generator {
  const clients = Array.from({ length: connections }, (_, at) => {
    return new Client(origins[at % origins.length] ?? '', {
      pipelining: 1,
      headersTimeout: STALLED_MS,
      bodyTimeout: STALLED_MS,
      ...(ca !== undefined && { connect: { ca } }),
    })
  })

  let asked = 0

  return {
    async ask(request) {
      const client = clients[asked++ % clients.length]
      if (!client) throw new Error('a generator has at least one connection')
      const { expectedStatus = 200, expectedBytes: _, ...options } = request
      const { statusCode, body } = await client.request(options)
      const bytes = Buffer.from(await body.arrayBuffer())
      if (statusCode === expectedStatus) return bytes
      throw new Error(`${request.path} was answered with ${statusCode}: ${bytes.toString()}`)
    },

    async run(requests, ms, signal) {
      const latencies: number[] = []
      const failures: Record<string, number> = {}
      const startedAt = performance.now()
      const endsAt = startedAt + ms
      let turn = 0

      async function drive(client: Client) {
        while (performance.now() < endsAt && !signal.aborted) {
          const request = requests[turn++ % requests.length]
          if (!request) throw new Error('there is nothing to send')
          const sentAt = performance.now()
          const failure = await send(client, request)
          latencies.push(performance.now() - sentAt)
          if (failure !== undefined) failures[failure] = (failures[failure] ?? 0) + 1
        }
      }

      const turns = Array.from({ length: atATime }).flatMap(
        (_, at) => clients[at % connections] ?? [],
      )
      await Promise.all(turns.map(drive))
      signal.throwIfAborted()
      const elapsedMs = performance.now() - startedAt
      const sorted = Float64Array.from(latencies).sort()
      return {
        answers: latencies.length,
        perSecond: (1000 * latencies.length) / elapsedMs,
        p50Ms: percentile(sorted, 0.5),
        p99Ms: percentile(sorted, 0.99),
        failures,
      }
    },

    async close() {
      await Promise.all(clients.map((client) => client.destroy()))
    },
  }
}

/** Reads the whole answer; tells what is wrong with it. */
export function send(client: Client, request: LoadRequest): Promise<string | undefined> {
  const { expectedStatus = 200, expectedBytes = 0, ...options } = request
  return new Promise((resolve) => {
    let status = 0
    let bytes = 0
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart(_controller, statusCode) {
        status = statusCode
      },
      onResponseData(_controller, chunk) {
        bytes += chunk.length
      },
      onResponseEnd() {
        if (status !== expectedStatus) resolve(`status ${status}`)
        else if (Math.abs(bytes - expectedBytes) > LENGTH_TOLERANCE_BYTES) {
          resolve('not the answer that was expected')
        } else resolve(undefined)
      },
      onResponseError(_controller, error) {
        resolve('code' in error ? String(error.code) : error.name)
      },
    }
    client.dispatch(options, handler)
  })
}
