import { type Clock, monotonicClock } from '../../lib/clock.ts'
import { ApiError, ConnectionError, isRateLimited, type OrdersError } from '../errors.ts'
import { sleep } from '../sleep.ts'
import { toConnectionError } from './connection-error.ts'
import { startDeadline } from './deadline.ts'
import { createRateLimiter } from './rate-limiter.ts'
import { type JsonResponse, parseResponse, type ReceivedResponse } from './response.ts'
import { retryDelayMs } from './retry.ts'

/** Reported before a call waits for its next try. */
export interface Wait {
  waitMs: number
  /** The error of the last try. */
  error: OrdersError
}

export interface TransportOptions {
  baseUrl: string
  apiKey: string
  fetch: typeof globalThis.fetch
  /** The limit of one try, including the body; milliseconds. */
  timeoutMs: number
  /** The limit of all retries of one call; milliseconds. */
  retryForMs: number
  onWait(wait: Wait): void
  /** Monotonic milliseconds. */
  clock?: Clock
}

export type Query = URLSearchParams | ((timeouts: number) => URLSearchParams)

/** Sends calls within the rate limit and retries transient failures. */
export interface Transport {
  /**
   * A query may depend on the tries of this call that timed out so far. An error for which
   * `isFinal` is true is not retried.
   * @throws OrdersError; the signal's reason when it aborts
   */
  get(
    path: string,
    query: Query,
    signal?: AbortSignal,
    isFinal?: (error: unknown) => boolean,
  ): Promise<JsonResponse>
}

/** How long a 401 holds for later calls: at most twelve requests a minute then return 401. */
const AUTH_ERROR_TTL_MS = 5_000

/**
 * Creates the transport of one API key. A retry waits for the backoff or a longer `Retry-After`,
 * and none starts after `retryForMs`. A 401 fails all queued calls, and those of the next five
 * seconds, without a request.
 */
export function createTransport(options: TransportOptions): Transport {
  const { baseUrl, apiKey, timeoutMs, retryForMs, onWait, clock = monotonicClock } = options
  const rateLimiter = createRateLimiter(clock)
  let isKnown = false
  /** The latest 401, and when it arrived. */
  let authError: ApiError | undefined
  let authErrorAtMs = 0

  async function tryOnce(url: string, signal: AbortSignal | undefined): Promise<JsonResponse> {
    const authErrorBefore = authError
    const call = await rateLimiter.acquire(signal)
    let headers: Headers | undefined
    try {
      // Queued and repeated calls would fail as well, and thirty 401 responses block the address.
      const isRecent = clock() - authErrorAtMs < AUTH_ERROR_TTL_MS
      if (authError !== undefined && (isRecent || authError !== authErrorBefore)) throw authError
      const response = await send(url, signal)
      headers = response.headers
      const parsed = parseResponse(response)
      isKnown = true
      return parsed
    } catch (error) {
      if (error instanceof ApiError) {
        isKnown = true
        if (error.status === 401 && error !== authError) {
          authError = error
          authErrorAtMs = clock()
        }
      }
      throw error
    } finally {
      rateLimiter.release(call, headers)
    }
  }

  async function send(url: string, signal: AbortSignal | undefined): Promise<ReceivedResponse> {
    const deadline = startDeadline(timeoutMs, signal)
    try {
      const response = await options.fetch(url, {
        headers: {
          authorization: `Bearer ${apiKey}`,
          accept: 'application/json',
          prefer: 'handling=strict', // Unknown parameters are rejected instead of ignored.
          'user-agent': 'public-orders-client',
        },
        redirect: 'manual', // A followed redirect would send the key to another server.
        signal: deadline.signal,
      })
      const { status, headers } = response
      return { url, status, headers, text: await response.text() }
    } catch (cause) {
      signal?.throwIfAborted()
      throw toConnectionError(url, cause)
    } finally {
      deadline.end()
    }
  }

  return {
    async get(path, query, signal, isFinal = () => false) {
      const startedMs = clock()
      let timeouts = 0
      for (let failedTries = 1; ; failedTries++) {
        const search = typeof query === 'function' ? query(timeouts) : query
        const url = `${baseUrl}${path}${search.size === 0 ? '' : `?${search}`}`
        try {
          return await tryOnce(url, signal)
        } catch (error) {
          if (isFinal(error)) throw error
          if (error instanceof ConnectionError && error.isTimeout) timeouts++
          const elapsedMs = clock() - startedMs
          const waitMs = retryDelayMs(error, { failedTries, isKnown, elapsedMs }, Math.random())
          if (waitMs === null || elapsedMs + waitMs > retryForMs) throw error
          if (isRateLimited(error)) rateLimiter.pause(waitMs) // The limit holds for all calls.
          onWait({ waitMs, error: error as OrdersError })
          await sleep(waitMs, signal)
        }
      }
    },
  }
}
