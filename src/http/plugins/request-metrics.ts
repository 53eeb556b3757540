import fp from 'fastify-plugin'
import type { Metrics } from '../../observability/metrics/registry.ts'
import { errorCatalogue } from '../api-error.ts'
import { safeParamLabel } from './safe-param-label.ts'

export interface RequestMetricsOptions {
  metrics: Metrics
}

/** What any route may answer. */
const STATUSES = new Set([200, 304, ...Object.values(errorCatalogue).map(({ status }) => status)])

/** Counts and times every request, by its route's pattern: an address would make a series of its own. */
export default fp<RequestMetricsOptions>(
  async (app, { metrics }) => {
    // From zero on, so that the first 503 of a route is seen as an increase.
    app.addHook('onRoute', ({ method, url: route }) => {
      if (![method].flat().includes('GET')) return
      for (const status of STATUSES) metrics.requestSeconds.zero({ method: 'GET', route, status })
    })
    app.addHook('onRequest', (_request, { raw }, next) => {
      // Those never come to `onResponse`: a service whose callers all give up would look idle.
      raw.once('close', () => {
        if (!raw.writableFinished) metrics.abandoned.inc()
      })
      next()
    })
    app.addHook('onResponse', async (request, reply) => {
      metrics.requestSeconds.observe(
        {
          method: request.method,
          route: request.routeOptions.url ?? 'none',
          status: reply.statusCode,
        },
        reply.elapsedTime / 1000,
      )
      if (request.apiError === null) return
      const { code } = request.apiError
      metrics.errors.inc({ code, param: safeParamLabel(request.apiError) ?? '' })
    })
  },
  { name: 'request-metrics' },
)
