import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, Client, type Dispatcher } from 'undici'
import { percentile } from '../../../test/harness/statistics.ts'

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

/** Requests that are due at fixed instants. */
export interface Pace {
  /** Per second. */
  rate: number
  seconds: number
  signal: AbortSignal
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
const STALLED_MS = 10_000
/** The shortest delay of a timer, so about how late a request is sent on an idle machine. */
const TICK_MS = 1

/**
 * Our own loops, since autocannon counts in whole milliseconds and a page lasts one to five. They
 * run in the bench's process, so its CPU time is separate from that of the contenders. With more
 * concurrent requests than connections, requests wait for a free one.
 */
export function createLoadClient(
  { origins, ca }: Target,
  concurrency = 1,
  connections = concurrency,
): LoadClient {
  const settings = {
    pipelining: 1,
    headersTimeout: STALLED_MS,
    bodyTimeout: STALLED_MS,
    ...(ca !== undefined && { connect: { ca } }),
  }
  const agent = new Agent({ ...settings, connections })
  // A flood opens thousands of connections, among which a pool searches for a free one.
  const callers: Client[] = []
  const idle: Client[] = []
  let turn = 0
  const nextOrigin = () => origins[turn % origins.length] ?? ''

  function openCaller(): Client {
    const caller = new Client(nextOrigin(), settings)
    callers.push(caller)
    return caller
  }

  async function sendNext(
    dispatcher: Dispatcher,
    requests: readonly LoadRequest[],
    dueAt: number,
  ): Promise<Outcome> {
    const request = requests[turn++ % requests.length]
    if (!request) throw new Error('there is no request to send')
    const sentAt = performance.now()
    const failure = await send(dispatcher, nextOrigin(), request)
    return { dueAt, sentAt, ms: performance.now() - dueAt, failure }
  }

  return {
    async fetch({ expectedStatus = 200, expectedBytes: _, ...options }) {
      turn += 1
      const { statusCode, body } = await agent.request({ ...options, origin: nextOrigin() })
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
          outcomes.push(await sendNext(agent, requests, performance.now()))
        }
      }
      await Promise.all(Array.from({ length: concurrency }, drive))
      return outcomes
    },

    async arrive(requests, pace) {
      const outcomes: Outcome[] = []
      const sendOne = async (dueAt: number) => {
        const caller = idle.pop() ?? openCaller()
        outcomes.push(await sendNext(caller, requests, dueAt))
        idle.push(caller)
      }
      await atPace(pace, async (due) => void (await Promise.all(due.map(sendOne))))
      return outcomes
    },

    async [Symbol.asyncDispose]() {
      await Promise.all([agent, ...callers].map((dispatcher) => dispatcher.destroy()))
    },
  }
}

/** Reads the whole response, and returns what was wrong with it, if anything. */
function send(
  dispatcher: Dispatcher,
  origin: string,
  request: LoadRequest,
): Promise<string | undefined> {
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
    dispatcher.dispatch({ ...options, origin }, handler)
  })
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
