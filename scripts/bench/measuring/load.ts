import { type CreateSink, collectBytes } from '../../../src/lib/http-client/body-sink.ts'
import { createHttpPool, type HttpPool } from '../../../src/lib/http-client/pool.ts'
import {
  type PlainRequest,
  type SerializedRequest,
  serializeRequest,
} from '../../../src/lib/http-client/request.ts'
import { percentile } from '../../../test/harness/statistics.ts'
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

const FETCH_TIMEOUT_MS = 60_000

/** Counts the bytes of a body, which costs less than to collect them. */
const countBytes: CreateSink<number> = () => {
  let length = 0
  return {
    write(bytes) {
      length += bytes.length
    },
    end: () => length,
  }
}

/** Connections to one origin, and the requests as they are sent, since each is sent repeatedly. */
interface Route {
  pool: HttpPool<number>
  serialized(request: LoadRequest): SerializedRequest
}

function routeTo(origin: string, size: number, ca?: string): Route {
  const { host } = new URL(origin)
  const known = new WeakMap<LoadRequest, SerializedRequest>()
  return {
    pool: createHttpPool({ origin, ca, size, createSink: countBytes }),
    serialized(request) {
      const bytes = known.get(request) ?? serializeRequest(request, host)
      known.set(request, bytes)
      return bytes
    },
  }
}

/**
 * Our own loops on plain sockets, since they run on the CPUs that they measure: undici costs
 * several times as much, and autocannon counts in whole milliseconds. With more concurrent requests
 * than connections, requests wait for a free one.
 */
export function createLoadClient(
  { origins, ca }: Target,
  concurrency = 1,
  connections = concurrency,
): LoadClient {
  const routesOf = (size: number) => origins.map((origin) => routeTo(origin, size, ca))
  const [looping, arriving] = [routesOf(connections), routesOf(Number.POSITIVE_INFINITY)]
  const fetching = origins.map((origin) => {
    const { host } = new URL(origin)
    return {
      host,
      pool: createHttpPool({ origin, ca, size: connections, createSink: collectBytes }),
    }
  })
  let turn = 0

  async function sendNext(
    routes: readonly Route[],
    requests: readonly LoadRequest[],
    dueAt: number,
  ): Promise<Outcome> {
    const route = routes[turn % routes.length]
    const request = requests[turn % requests.length]
    turn += 1
    if (!route || !request) throw new Error('there is no request to send')
    const sentAt = performance.now()
    const failure = await send(route, request)
    return { dueAt, sentAt, ms: performance.now() - dueAt, failure }
  }

  return {
    async fetch(request) {
      const route = fetching.at(turn % fetching.length)
      if (!route) throw new Error('there is no address to send to')
      turn += 1
      const sent = route.pool.send(serializeRequest(request, route.host))
      const stalled = setTimeout(() => sent.abort(new Error('stalled')), FETCH_TIMEOUT_MS)
      const { status, body } = await sent.response.finally(() => clearTimeout(stalled))
      if (status === (request.expectedStatus ?? 200)) return body
      throw new Error(`${request.path} returned status ${status}: ${body}`)
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
      for (const { pool } of [...looping, ...arriving]) pool.close()
      for (const { pool } of fetching) pool.close()
    },
  }
}

/** Reads the whole response, and returns what was wrong with it, if anything. */
async function send(route: Route, request: LoadRequest): Promise<string | undefined> {
  const { expectedStatus = 200, expectedBytes = 0 } = request
  try {
    const { status, body: bytes } = await route.pool.send(route.serialized(request)).response
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
