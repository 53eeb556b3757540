import { Agent } from 'undici'
import { percentile } from '../../../test/harness/statistics.ts'
import { createHttpPool, type HttpPool, type PlainRequest } from './http-pool.ts'
import { atPace, type Pace } from './pace.ts'

/** A request that the bench sends repeatedly. */
export interface LoadRequest extends PlainRequest {
  /** 200 when absent. */
  expectedStatus?: number
  /** Length of the checked response; a later one may differ by some bytes, in the time it took. */
  expectedBytes?: number
}

/** Where requests are sent. */
export interface Target {
  /** Requests are spread over them. */
  origins: readonly string[]
  /** PEM of the certificate authority; the default of the system when absent. */
  ca?: string | undefined
}

/** The outcome of a request. Instants are of the clock of `performance.now()`. */
export interface Outcome {
  dueAt: number
  /** Later than due where this process was busy. */
  sentAt: number
  /** From due to the last byte: a delay before sending is one that a caller would have seen. */
  ms: number
  /** Absent where the response was the expected one. */
  failure: string | undefined
}

/** A client that keeps its connections. */
export interface LoadClient extends AsyncDisposable {
  /** Sends one request and returns its response. */
  fetch(request: LoadRequest): Promise<Buffer>
  /** A closed loop for `ms`: sends the next request in rotation when a response has ended. */
  loop(requests: readonly LoadRequest[], ms: number, signal: AbortSignal): Promise<Outcome[]>
  /** An open loop: sends the requests at a rate, on as many further connections as necessary. */
  arrive(requests: readonly LoadRequest[], pace: Pace): Promise<Outcome[]>
}

/** Far shorter than an order, so an incomplete page never passes as complete. */
const LENGTH_TOLERANCE_BYTES = 32

/**
 * Our own loops on plain sockets, since they run on the CPUs that they measure: undici costs several
 * times as much, and autocannon counts in whole milliseconds. With more concurrent requests than
 * connections, requests wait for a free one.
 */
export function createLoadClient(
  { origins, ca }: Target,
  concurrency = 1,
  connections = concurrency,
): LoadClient {
  const agent = new Agent({ connections, ...(ca !== undefined && { connect: { ca } }) })
  const poolsOf = (size: number) => origins.map((origin) => createHttpPool(origin, size, ca))
  const [looping, arriving] = [poolsOf(connections), poolsOf(Number.POSITIVE_INFINITY)]
  let turn = 0

  async function sendNext(
    pools: readonly HttpPool[],
    requests: readonly LoadRequest[],
    dueAt: number,
  ): Promise<Outcome> {
    const pool = pools[turn % pools.length]
    const request = requests[turn % requests.length]
    turn += 1
    if (!pool || !request) throw new Error('there is no request to send')
    const sentAt = performance.now()
    const failure = await send(pool, request)
    return { dueAt, sentAt, ms: performance.now() - dueAt, failure }
  }

  return {
    async fetch({ expectedStatus = 200, expectedBytes: _, ...options }) {
      const origin = origins[turn % origins.length] ?? ''
      turn += 1
      const { statusCode, body } = await agent.request({ ...options, origin })
      const bytes = Buffer.from(await body.arrayBuffer())
      if (statusCode === expectedStatus) return bytes
      throw new Error(`${options.path} returned status ${statusCode}: ${bytes.toString()}`)
    },

    async loop(requests, ms, signal) {
      const outcomes: Outcome[] = []
      const endsAt = performance.now() + ms
      async function drive() {
        while (performance.now() < endsAt) {
          signal.throwIfAborted()
          outcomes.push(await sendNext(looping, requests, performance.now()))
        }
      }
      await Promise.all(Array.from({ length: concurrency }, drive))
      return outcomes
    },

    async arrive(requests, pace) {
      const outcomes: Outcome[] = []
      const sendOne = async (dueAt: number) => {
        outcomes.push(await sendNext(arriving, requests, dueAt))
      }
      await atPace(pace, async (due) => void (await Promise.all(due.map(sendOne))))
      return outcomes
    },

    async [Symbol.asyncDispose]() {
      for (const pool of [...looping, ...arriving]) pool.close()
      await agent.destroy()
    },
  }
}

/** Reads the whole response, and returns what was wrong with it, if anything. */
async function send(pool: HttpPool, request: LoadRequest): Promise<string | undefined> {
  const { expectedStatus = 200, expectedBytes = 0 } = request
  try {
    const { status, bytes } = await pool.send(request)
    if (status !== expectedStatus) return `status ${status}`
    const isWhole = Math.abs(bytes - expectedBytes) <= LENGTH_TOLERANCE_BYTES
    return isWhole ? undefined : 'unexpected response length'
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return 'code' in error ? String(error.code) : error.message
  }
}

/** The figures of requests that were sent within so many milliseconds. */
export function loadFigures(outcomes: readonly Outcome[], ms: number) {
  const took = sortedMs(outcomes)
  const failed = outcomes.flatMap(({ failure }) => failure ?? [])
  const failures: Record<string, number> = {}
  for (const failure of failed) failures[failure] = (failures[failure] ?? 0) + 1
  return {
    answers: outcomes.length,
    perSecond: (1000 * outcomes.length) / ms,
    p50Ms: percentile(took, 0.5),
    p99Ms: percentile(took, 0.99),
    failures,
  }
}

/** Latencies, ascending. */
export function sortedMs(outcomes: readonly Pick<Outcome, 'ms'>[]): Float64Array {
  return Float64Array.from(outcomes, ({ ms }) => ms).sort()
}
