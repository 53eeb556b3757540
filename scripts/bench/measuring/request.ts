import { Client, type Dispatcher } from 'undici'

/** A request that the bench sends repeatedly. */
export interface LoadRequest {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: Buffer
  /** 200 when absent. */
  expectedStatus?: number
  /** Length of the checked response; a later one may differ by some bytes, in the time it took. */
  expectedBytes?: number
}

/** Where requests are sent. */
export interface Target {
  /** Connections are spread over them. */
  origins: readonly string[]
  /** PEM of the certificate authority; the default of the system when absent. */
  ca?: string | undefined
}

/** Far shorter than an order, so an incomplete page never passes as complete. */
const LENGTH_TOLERANCE_BYTES = 32
const STALLED_MS = 10_000

/** Opens connection number `at` to the target. */
export function connect({ origins, ca }: Target, at: number): Client {
  return new Client(origins[at % origins.length] ?? '', {
    pipelining: 1,
    headersTimeout: STALLED_MS,
    bodyTimeout: STALLED_MS,
    ...(ca !== undefined && { connect: { ca } }),
  })
}

/** Reads the whole response, and returns what was wrong with it, if anything. */
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
        const isWhole = Math.abs(bytes - expectedBytes) <= LENGTH_TOLERANCE_BYTES
        if (status !== expectedStatus) resolve(`status ${status}`)
        else resolve(isWhole ? undefined : 'unexpected response length')
      },
      onResponseError(_controller, error) {
        resolve('code' in error ? String(error.code) : error.name)
      },
    }
    client.dispatch(options, handler)
  })
}
