import fp from 'fastify-plugin'
import type { ManagementMetrics } from '../../../observability/metrics/management.ts'

export interface ManagementMetricsOptions {
  requestSeconds: ManagementMetrics['requestSeconds']
}

/** Times every request by route pattern. */
export default fp<ManagementMetricsOptions>(
  async (app, { requestSeconds }) => {
    app.addHook('onResponse', async ({ method, routeOptions }, { statusCode, elapsedTime }) => {
      const route = routeOptions.url ?? 'none'
      requestSeconds.observe({ method, route, status: statusCode }, elapsedTime / 1_000)
    })
  },
  { name: 'management-metrics' },
)
