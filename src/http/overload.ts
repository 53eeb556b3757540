import type { ServerResponse } from 'node:http'
import fp from 'fastify-plugin'
import { ApiError, renderError } from '../errors.ts'
import { newRequestId } from '../lib/ids.ts'
import type { ShedReason } from '../metrics/http.ts'
import { createGate, type Gate, type GateOptions } from './gate.ts'
import { JSON_TYPE } from './headers.ts'

/** Whoever waited for longer than this would rather come again. */
const MAX_HELD_UP_MS = 1_000

/** Keeps the service from taking on more than it can answer soon. */
export interface Overload extends Pick<Gate, 'leave'> {
  /** Answers a request with `503 service_unavailable` at once where there is no place for it. */
  sheds(response: ServerResponse): boolean
}

export interface OverloadOptions extends Pick<GateOptions, 'maxConcurrent'> {
  onShed(reason: ShedReason): void
}

/**
 * Sheds before the framework sees a request: a few hundredths of the CPU time of an answer.
 * `@fastify/under-pressure` looks once a second and after routing: too late for one, too dear for the other.
 */
export function createOverload({ maxConcurrent, onShed }: OverloadOptions): Overload {
  const gate = createGate({ maxConcurrent, maxHeldUpMs: MAX_HELD_UP_MS })
  const error = new ApiError('service_unavailable')
  const placeholder = newRequestId()
  const body = renderError(error, placeholder)
  const [before, after] = body.split(placeholder)
  const length = Buffer.byteLength(body)

  return {
    leave: gate.leave,

    sheds(response) {
      const reason = gate.enter(response)
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
      response.writeHead(error.status, headers).end(`${before}${id}${after}`)
      return true
    },
  }
}

/** Gives the place of a request back once its answer is made. */
export default fp<{ overload: Overload }>(
  async (app, { overload }) => {
    app.addHook('onSend', (_request, reply, payload, done) => {
      overload.leave(reply.raw)
      done(null, payload)
    })
  },
  { name: 'overload' },
)
