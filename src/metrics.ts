import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { LimiterDecision } from './limits/degraded-limiter.ts'

/** What the process counts, for the operations port to show. */
export interface Metrics {
  registry: Registry
  /** Seconds a request took; `route` is its pattern, `none` where there is none. */
  requestSeconds: Histogram<'method' | 'route' | 'status'>
  /** Decisions on limits that this process made by itself, because Redis did not answer in time. */
  degradedDecisions: Counter<'decision'>
}

const LIMITER_DECISIONS = ['take', 'blocked', 'count_failure'] satisfies LimiterDecision[]

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
  const degradedDecisions = new Counter({
    name: 'limiter_degraded_decisions_total',
    help: 'Decisions on limits made by this process alone, because Redis did not answer in time.',
    labelNames: ['decision'] as const,
    registers: [registry],
  })
  // From zero on, so that the first one is seen as an increase.
  for (const decision of LIMITER_DECISIONS) degradedDecisions.inc({ decision }, 0)
  return { registry, requestSeconds, degradedDecisions }
}

/** Adds what the process itself tells: CPU, memory, event loop. Once a process. */
export function watchProcess({ registry }: Metrics): void {
  collectDefaultMetrics({ register: registry })
}
