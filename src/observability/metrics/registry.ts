import { Registry } from 'prom-client'
import { createHttpMetrics, type HttpMetrics } from './http.ts'
import { createServiceMetrics, type ServiceMetrics } from './services.ts'

/**
 * What a process counts that serves, for the operations port to show. Labels are of closed sets, and
 * begin at zero so that the first of anything is seen as an increase; none holds what a caller sent.
 */
export interface Metrics extends HttpMetrics, ServiceMetrics {
  registry: Registry
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  return { registry, ...createHttpMetrics(registry), ...createServiceMetrics(registry) }
}
