import fp from 'fastify-plugin'
import type { Tracing } from '../../observability/tracing/tracing.ts'

export interface RequestTraceOptions {
  tracing: Tracing
}

/** Records one span per request, which encloses all of its work. */
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
      // `close` also fires when the client disconnects before the response.
      raw.once('close', () => span.end(raw.headersSent ? raw.statusCode : undefined))
      span.run(next)
    })
  },
  { name: 'request-trace' },
)
