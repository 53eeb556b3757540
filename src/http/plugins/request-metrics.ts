import fp from 'fastify-plugin'
import type { Metrics } from '../../observability/metrics/registry.ts'
import { errorCatalogue } from '../api-error.ts'
import { safeParamLabel } from '../unknown-params.ts'

export interface RequestMetricsOptions {
  metrics: Metrics
}

/** The status codes of every route. */
const STATUSES = new Set([200, 304, ...Object.values(errorCatalogue).map(({ status }) => status)])

/** Counts and times every request by route pattern; each URL would create its own time series. */
export default fp<RequestMetricsOptions>(
  async (app, { metrics }) => {
    // Series start at zero, so that the first 503 of a route is an increase.
    app.addHook('onRoute', ({ method, url: route }) => {
      if (![method].flat().includes('GET')) return
      for (const status of STATUSES) metrics.requestSeconds.zero({ method: 'GET', route, status })
    })
    // Without it, a service whose clients all time out would seem idle.
    app.onAbandoned(() => metrics.abandoned.inc())
    app.addHook('onResponse', (request, reply, done) => {
      metrics.requestSeconds.observe(
        {
          method: request.method,
          route: request.routeOptions.url ?? 'none',
          status: reply.statusCode,
        },
        reply.elapsedTime / 1000,
      )
      if (request.apiError !== null) {
        const { code } = request.apiError
        metrics.errors.inc({ code, param: safeParamLabel(request.apiError) ?? '' })
      }
      done()
    })
  },
  { name: 'request-metrics', dependencies: ['abandoned-requests'] },
)
