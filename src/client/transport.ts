import { type Clock, monotonicClock } from '../lib/clock.ts'
import { readAnswer } from './answer.ts'
import { connectionFault } from './connection-fault.ts'
import { ApiError, EdgeError, type OrdersError } from './errors.ts'
import { createPace } from './pace.ts'
import { retryInMs } from './retry.ts'
import { sleep } from './sleep.ts'

/** A call is about to wait before it is repeated. */
export interface Wait {
  waitMs: number
  /** Why: what the last try ended with. */
  error: OrdersError
}

export interface TransportOptions {
  baseUrl: string
  apiKey: string
  fetch: typeof globalThis.fetch
  /** How long one try may take, answer read; milliseconds. */
  timeoutMs: number
  /** How long a call is repeated before its last error is the caller's; milliseconds. */
  retryForMs: number
  onWait(wait: Wait): void
  /** Monotonic milliseconds. */
  clock?: Clock
}

/** Asks the API; what passes by itself is waited out. */
export interface Transport {
  /** @throws OrdersError; the signal's reason when it aborts */
  get(path: string, query: URLSearchParams, signal?: AbortSignal): Promise<unknown>
}

export function createTransport(options: TransportOptions): Transport {
  const { baseUrl, apiKey, timeoutMs, retryForMs, onWait, clock = monotonicClock } = options
  const pace = createPace(clock)
  let isKnown = false
  /** The last answer that said that the key is not valid. */
  let lastRefusal: ApiError | undefined

  async function ask(url: string, signal: AbortSignal | undefined): Promise<unknown> {
    const refusalBefore = lastRefusal
    const call = await pace.turn(signal)
    let headers: Headers | undefined
    try {
      // Those in line would be refused as well, and thirty refusals block the address.
      if (lastRefusal !== undefined && lastRefusal !== refusalBefore) throw lastRefusal
      const received = await receive(url, signal)
      headers = received.headers
      const body = readAnswer(received)
      isKnown = true
      return body
    } catch (error) {
      if (error instanceof ApiError) {
        isKnown = true
        if (error.status === 401) lastRefusal = error
      }
      throw error
    } finally {
      pace.done(call, headers)
    }
  }

  async function receive(url: string, signal: AbortSignal | undefined) {
    const deadline = AbortSignal.timeout(timeoutMs)
    try {
      const response = await options.fetch(url, {
        headers: {
          authorization: `Bearer ${apiKey}`,
          accept: 'application/json',
          prefer: 'handling=strict', // A parameter that does not exist is told, not ignored.
          'user-agent': 'public-orders-client',
        },
        redirect: 'manual', // Who follows takes the key along.
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      })
      const { status, headers } = response
      return { url, status, headers, text: await response.text() }
    } catch (cause) {
      signal?.throwIfAborted()
      throw connectionFault(url, cause)
    }
  }

  return {
    async get(path, query, signal) {
      const url = `${baseUrl}${path}${query.size === 0 ? '' : `?${query}`}`
      const startedMs = clock()
      for (let failedTries = 1; ; failedTries++) {
        try {
          return await ask(url, signal)
        } catch (error) {
          const waitMs = retryInMs(error, { failedTries, isKnown }, Math.random())
          if (waitMs === null || clock() - startedMs + waitMs > retryForMs) throw error
          if (isLimit(error)) pace.hold(waitMs)
          onWait({ waitMs, error: error as OrdersError })
          await sleep(waitMs, signal)
        }
      }
    },
  }
}

/** What one call is told of holds for all of them. */
const isLimit = (error: unknown) =>
  (error instanceof ApiError || error instanceof EdgeError) && error.status === 429
