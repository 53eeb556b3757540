import { percentile } from './figures.ts'
import { connect, type LoadRequest, send, type Target } from './request.ts'

export interface LoadFigures {
  answers: number
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Kind of failure → how often. */
  failures: Record<string, number>
}

/** Sends the next request when a response has ended. */
export interface ClosedLoop extends AsyncDisposable {
  /** Sends one request and returns its response. */
  fetch(request: LoadRequest): Promise<Buffer>
  /** Sends the requests in rotation over all connections for `ms`. */
  run(requests: readonly LoadRequest[], ms: number, signal: AbortSignal): Promise<LoadFigures>
}

/**
 * Our own closed loop, since autocannon counts in whole milliseconds and a page lasts one to five. It
 * runs in the bench's process, so its CPU time is separate from that of the contenders. With more
 * concurrent requests than connections, those that share a connection wait for each other.
 */
export function createClosedLoop(
  target: Target,
  concurrency: number,
  connections = concurrency,
): ClosedLoop {
  const clients = Array.from({ length: connections }, (_, at) => connect(target, at))
  const clientAt = (at: number) => {
    const client = clients[at % connections]
    if (!client) throw new Error('a closed loop has at least one connection')
    return client
  }
  let fetched = 0

  return {
    async fetch({ expectedStatus = 200, expectedBytes: _, ...options }) {
      const { statusCode, body } = await clientAt(fetched++).request(options)
      const bytes = Buffer.from(await body.arrayBuffer())
      if (statusCode === expectedStatus) return bytes
      throw new Error(`${options.path} returned status ${statusCode}: ${bytes.toString()}`)
    },

    async run(requests, ms, signal) {
      const latencies: number[] = []
      const failures: Record<string, number> = {}
      const startedAt = performance.now()
      let turn = 0

      async function drive(at: number) {
        while (performance.now() < startedAt + ms && !signal.aborted) {
          const request = requests[turn++ % requests.length]
          if (!request) throw new Error('there is no request to send')
          const sentAt = performance.now()
          const failure = await send(clientAt(at), request)
          latencies.push(performance.now() - sentAt)
          if (failure !== undefined) failures[failure] = (failures[failure] ?? 0) + 1
        }
      }

      await Promise.all(Array.from({ length: concurrency }, (_, at) => drive(at)))
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

    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.destroy()))
    },
  }
}
