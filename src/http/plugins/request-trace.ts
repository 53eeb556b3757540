import fp from 'fastify-plugin'
import type { Tracing } from '../../observability/tracing/tracing.ts'

export interface RequestTraceOptions {
  tracing: Tracing
}

/** A span for every request, around all that is done for it. */
export default fp<RequestTraceOptions>(
  async (app, { tracing }) => {
    app.addHook('onRequest', (request, { raw }, next) => {
      const { traceparent } = request.headers
      const span = tracing.startRequest({
        method: request.method,
        route: request.routeOptions.url,
        requestId: request.id,
        traceparent: typeof traceparent === 'string' ? traceparent : undefined,
      })
      // Also where the caller went away before there was an answer.
      raw.once('close', () => span.end(raw.headersSent ? raw.statusCode : undefined))
      span.run(next)
    })
  },
  { name: 'request-trace' },
)
