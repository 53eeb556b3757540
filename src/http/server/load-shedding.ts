import type { ServerResponse } from 'node:http'
import { type Clock, monotonicClock } from '../../lib/clock.ts'
import { ApiError, renderError } from '../api-error.ts'
import { JSON_TYPE } from '../headers.ts'
import { newRequestId } from '../request-id.ts'

export const SHED_REASONS = ['concurrency', 'event_loop'] as const
/** Why a request is shed: too many in flight, or an event loop that is far behind. */
export type ShedReason = (typeof SHED_REASONS)[number]

/** A request that would wait longer than this is better retried later. */
const MAX_LOOP_DELAY_MS = 1_000

/** Limits the requests in flight to those that can be served soon. */
export interface ConcurrencyLimiter {
  /** Acquires a slot for a request, or returns why none is free. */
  tryAcquire(response: ServerResponse): ShedReason | undefined
  /** Releases the slot once the response is rendered, however slowly the client reads it. */
  release(response: ServerResponse): void
}

export interface ConcurrencyLimiterOptions {
  /** The maximum number of requests in flight. */
  maxConcurrent: number
  /** Milliseconds after the first request of an event loop turn at which it accepts no more. */
  maxLoopDelayMs: number
  clock?: Clock
}

/**
 * Has no queue: admitted requests already queue for the CPU, so `maxConcurrent` bounds that queue.
 * A request beyond it is rejected at once.
 */
export function createConcurrencyLimiter({
  maxConcurrent,
  maxLoopDelayMs,
  clock = monotonicClock,
}: ConcurrencyLimiterOptions): ConcurrencyLimiter {
  const inFlight = new Set<ServerResponse>()
  let acquired = 0
  let released = 0
  let turnSinceMs: number | undefined

  // Slots become free only between turns of the event loop. The embedded store responds within one
  // turn, where requests never overlap, however many wait.
  function endTurn(): void {
    acquired -= released
    released = 0
    turnSinceMs = undefined
  }

  /** The instant of the first request or response in this turn of the event loop. */
  function turnStart(now: number): number {
    if (turnSinceMs === undefined) setImmediate(endTurn)
    turnSinceMs ??= now
    return turnSinceMs
  }

  function release(response: ServerResponse): void {
    if (!inFlight.delete(response)) return
    turnStart(clock())
    released += 1
  }

  return {
    tryAcquire(response) {
      const now = clock()
      if (now - turnStart(now) > maxLoopDelayMs) return 'event_loop'
      if (acquired >= maxConcurrent) return 'concurrency'
      acquired += 1
      inFlight.add(response)
      response.once('close', () => release(response)) // A disconnected client gets no response.
      return undefined
    },

    release,
  }
}

/** Sheds requests beyond what the service can serve soon. */
export interface LoadShedder extends Pick<ConcurrencyLimiter, 'release'> {
  /** Sends `503 service_unavailable` at once and returns `true` when no slot is free. */
  shed(response: ServerResponse): boolean
}

export interface LoadShedderOptions extends Pick<ConcurrencyLimiterOptions, 'maxConcurrent'> {
  onShed(reason: ShedReason): void
}

/**
 * Sheds before Fastify receives a request, for a few percent of the CPU time of a normal response.
 * `@fastify/under-pressure` samples once a second, which is too late, and runs after routing, which
 * costs too much.
 */
export function createLoadShedder({ maxConcurrent, onShed }: LoadShedderOptions): LoadShedder {
  const limiter = createConcurrencyLimiter({ maxConcurrent, maxLoopDelayMs: MAX_LOOP_DELAY_MS })
  const error = new ApiError('service_unavailable')
  const placeholder = newRequestId()
  const body = renderError(error, placeholder)
  const [prefix, suffix] = body.split(placeholder)
  const length = Buffer.byteLength(body)

  return {
    release: limiter.release,

    shed(response) {
      const reason = limiter.tryAcquire(response)
      if (reason === undefined) return false
      onShed(reason)
      const id = newRequestId()
      const headers = {
        'Content-Type': JSON_TYPE,
        'Content-Length': length,
        'Cache-Control': 'no-store',
        'Request-Id': id,
        'Retry-After': error.retryAfterSeconds,
      }
      response.writeHead(error.status, headers).end(`${prefix}${id}${suffix}`)
      return true
    },
  }
}
