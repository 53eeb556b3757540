import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import { ClientDisconnected } from '../../lib/request-scope.ts'
import type { Tracing } from './tracing.ts'

/** The methods that the semantic conventions list by name. */
const KNOWN_METHODS = new Set('CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE'.split(' '))

/** Creates spans by the semantic conventions, without attributes that contain client input. */
export function createTracing(tracer: Tracer): Omit<Tracing, 'close'> {
  const current = new AsyncLocalStorage<Context>()

  return {
    startRequest({ method, route, requestId, traceparent }) {
      const knownMethod = KNOWN_METHODS.has(method) ? method : '_OTHER'
      const attributes = {
        'http.request.method': knownMethod,
        ...(route !== undefined && { 'http.route': route }),
        request_id: requestId,
      }
      const name = [knownMethod === '_OTHER' ? 'HTTP' : method, route].filter(Boolean).join(' ')
      const options = { kind: SpanKind.SERVER, attributes }
      const span = tracer.startSpan(name, options, contextOf(traceparent))
      return {
        run: (work) => current.run(trace.setSpan(ROOT_CONTEXT, span), work),
        end(status) {
          if (status !== undefined) span.setAttribute('http.response.status_code', status)
          if (status !== undefined && status >= 500) {
            span
              .setAttribute('error.type', String(status))
              .setStatus({ code: SpanStatusCode.ERROR })
          }
          span.end()
        },
      }
    },

    recordAttempt({ eventId, type, attempt, startedAt, endedAt, status }) {
      const isSuccess = status !== null && status < 300
      const attributes = {
        'http.request.method': 'POST',
        ...(attempt > 1 && { 'http.request.resend_count': attempt - 1 }),
        ...(!isSuccess && { 'error.type': status === null ? '_OTHER' : String(status) }),
        'messaging.message.id': eventId,
        'messaging.operation.type': 'send',
        'messaging.operation.name': type,
        ...(status !== null && { 'http.response.status_code': status }),
      }
      const options = { kind: SpanKind.CLIENT, attributes, startTime: startedAt }
      const span = tracer.startSpan('POST webhook', options, ROOT_CONTEXT)
      if (!isSuccess) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(endedAt)
    },

    instrument: (system) => async (operation, call) => {
      const request = current.getStore()
      if (request === undefined) return await call() // A health check or a probe.
      const attributes = { 'db.system.name': system, 'db.operation.name': operation }
      const options = { kind: SpanKind.CLIENT, attributes }
      const span = tracer.startSpan(`${system} ${operation}`, options, request)
      try {
        return await call()
      } catch (error) {
        // The error name alone, because a message may quote client input.
        span.setAttribute('error.type', error instanceof Error ? error.name : '_OTHER')
        if (!(error instanceof ClientDisconnected)) span.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        span.end()
      }
    },
  }
}

/** The trace of the client. Excludes `tracestate`, which is arbitrary client input. */
function contextOf(traceparent: string | undefined): Context {
  const parent = traceparent === undefined ? null : parseTraceParent(traceparent)
  if (parent === null) return ROOT_CONTEXT
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true })
}
