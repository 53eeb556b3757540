import { Registry } from 'prom-client'
import { createHttpMetrics, type HttpMetrics } from './http.ts'
import { createServiceMetrics, type ServiceMetrics } from './services.ts'

/**
 * Metrics of an API process, exposed on the operations port. Labels come from closed sets and never
 * contain client input. Series start at zero, so that the first event shows as an increase.
 */
export interface Metrics extends HttpMetrics, ServiceMetrics {
  registry: Registry
}

/** Creates a registry with all metrics of an API process. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  return { registry, ...createHttpMetrics(registry), ...createServiceMetrics(registry) }
}
