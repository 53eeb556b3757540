import fp from 'fastify-plugin'
import type { Metrics } from '../metrics.ts'

export interface RequestMetricsOptions {
  metrics: Metrics
}

/** Counts and times every request, by its route's pattern: an address would make a series of its own. */
export default fp<RequestMetricsOptions>(
  async (app, { metrics }) => {
    app.addHook('onResponse', async (request, reply) => {
      metrics.requestSeconds.observe(
        {
          method: request.method,
          route: request.routeOptions.url ?? 'none',
          status: reply.statusCode,
        },
        reply.elapsedTime / 1000,
      )
    })
  },
  { name: 'request-metrics' },
)
