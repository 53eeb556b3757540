import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { buildApp } from '../app.ts'
import type { Config } from '../config.ts'
import { observedByBoth } from '../lib/observe.ts'
import { countServices } from '../metrics/count-services.ts'
import { watchProcess } from '../metrics/process.ts'
import { createMetrics, type Metrics } from '../metrics/serving.ts'
import { createReadiness, type Readiness } from '../readiness.ts'
import { openServerServices, type ServerServices } from '../services.ts'
import { openTracing } from '../tracing/open-tracing.ts'

/** One process's share of the service, which is all of it where there is one process. */
export interface Service {
  /** Ready to listen. */
  app: FastifyInstance
  services: ServerServices
  metrics: Metrics
  isReady: Readiness
  /** Finishes what is under way, and lets go of everything. */
  close(): Promise<void>
}

/** Opens what the API stands on, measured and traced, and builds it. */
export async function openService(config: Config, logger: Logger): Promise<Service> {
  const metrics = createMetrics()
  watchProcess(metrics)
  const tracing = await openTracing(config.tracing, {
    onOutage: (reason) => logger.warn({ reason }, 'traces are not taken'),
    onRecovered: () => logger.info('traces are taken again'),
  })
  const counted = countServices(metrics)
  const services = await openServerServices(config, {
    ...counted,
    observeOpenSearch: observedByBoth(counted.observeOpenSearch, tracing?.observe('opensearch')),
    observeRedis: observedByBoth(counted.observeRedis, tracing?.observe('redis')),
    onDegraded: (err) =>
      logger.warn({ err }, 'Redis does not answer: limits count in this process'),
    onRecovered: () => logger.info('Redis answers again: limits are shared'),
  })
  const app = buildApp(config, services, { logger, metrics, tracing })
  return {
    app,
    services,
    metrics,
    isReady: createReadiness(services, logger),
    async close() {
      await app.close()
      await tracing?.close()
      await services.close()
    },
  }
}
