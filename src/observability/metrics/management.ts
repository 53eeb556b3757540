import { Counter, Histogram, type Registry } from 'prom-client'
import { lineResults } from '../../management/ingestion/ingestion.ts'
import { DURATION_BUCKETS } from './buckets.ts'

/** Metrics of the management API. */
export interface ManagementMetrics {
  rejectedTokens: Counter
  /** Request duration in seconds; `route` is the route pattern, or `none`. */
  requestSeconds: Histogram<'method' | 'route' | 'status'>
  sourceOrders: Counter<'result'>
}

/** Adds the metrics to the registry. */
export function createManagementMetrics(registry: Registry): ManagementMetrics {
  const sourceOrders = new Counter({
    name: 'management_source_orders_total',
    help: 'Pushed source orders, by result: written, unchanged, older, accepted, refused.',
    labelNames: ['result'] as const,
    registers: [registry],
  })
  for (const result of lineResults) sourceOrders.inc({ result }, 0)
  return {
    sourceOrders,
    rejectedTokens: new Counter({
      name: 'management_rejected_tokens_total',
      help: 'Requests to the management API without a valid token.',
      registers: [registry],
    }),
    requestSeconds: new Histogram({
      name: 'management_request_seconds',
      help: 'Duration of requests to the management API in seconds, by method, route and status.',
      labelNames: ['method', 'route', 'status'] as const,
      buckets: DURATION_BUCKETS,
      registers: [registry],
    }),
  }
}
