import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/** What the process counts, for the operations port to show. */
export interface Metrics {
  registry: Registry
  /** Seconds a request took; `route` is its pattern, `none` where there is none. */
  requestSeconds: Histogram<'method' | 'route' | 'status'>
}

/** Seconds: from a page out of memory to the deadline of a search. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

export function createMetrics(): Metrics {
  const registry = new Registry()
  const requestSeconds = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Seconds a request of the API took, by method, route and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: BUCKETS,
    registers: [registry],
  })
  return { registry, requestSeconds }
}

/** Adds what the process itself tells: CPU, memory, event loop. Once a process. */
export function watchProcess({ registry }: Metrics): void {
  collectDefaultMetrics({ register: registry })
}
