import type { ServerResponse } from 'node:http'
import fp from 'fastify-plugin'
import { newRequestId } from '../../lib/ids.ts'
import type { ShedReason } from '../../observability/metrics/http.ts'
import { ApiError, renderError } from '../api-error.ts'
import { JSON_TYPE } from '../headers.ts'
import {
  type ConcurrencyLimiter,
  type ConcurrencyLimiterOptions,
  createConcurrencyLimiter,
} from './concurrency-limiter.ts'

/** Whoever waited for longer than this would rather come again. */
const MAX_LOOP_DELAY_MS = 1_000

/** Keeps the service from taking on more than it can answer soon. */
export interface LoadShedder extends Pick<ConcurrencyLimiter, 'release'> {
  /** Answers a request with `503 service_unavailable` at once where there is no place for it. */
  shed(response: ServerResponse): boolean
}

export interface LoadShedderOptions extends Pick<ConcurrencyLimiterOptions, 'maxConcurrent'> {
  onShed(reason: ShedReason): void
}

/**
 * Sheds before the framework sees a request: a few hundredths of the CPU time of an answer.
 * `@fastify/under-pressure` looks once a second and after routing: too late for one, too dear for the other.
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

/** Gives the place of a request back once its answer is made. */
export default fp<{ loadShedder: LoadShedder }>(
  async (app, { loadShedder }) => {
    app.addHook('onSend', (_request, reply, payload, done) => {
      loadShedder.release(reply.raw)
      done(null, payload)
    })
  },
  { name: 'load-shedding' },
)
