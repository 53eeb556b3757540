import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { buildApp } from '../app.ts'
import type { Config } from '../config/config.ts'
import { createReadiness, type Readiness } from '../http/operations/readiness.ts'
import { combineInstruments } from '../lib/instrument.ts'
import { instrumentServices } from '../observability/metrics/instrument-services.ts'
import { registerProcessMetrics } from '../observability/metrics/process.ts'
import { createMetrics, type Metrics } from '../observability/metrics/registry.ts'
import { openTracing } from '../observability/tracing/tracing.ts'
import { openServerServices, type ServerServices } from '../services.ts'

/** One process's share of the service, which is all of it where there is one process. */
export interface ApiServer {
  /** Ready to listen. */
  app: FastifyInstance
  services: ServerServices
  metrics: Metrics
  isReady: Readiness
  /** Finishes what is under way, and lets go of everything. */
  close(): Promise<void>
}

/** Opens what the API stands on, measured and traced, and builds it. */
export async function openApiServer(config: Config, logger: Logger): Promise<ApiServer> {
  const metrics = createMetrics()
  registerProcessMetrics(metrics)
  const tracing = await openTracing(config.tracing, {
    onOutage: (reason) => logger.warn({ reason }, 'traces are not taken'),
    onRecovered: () => logger.info('traces are taken again'),
  })
  const instruments = instrumentServices(metrics)
  const services = await openServerServices(config, {
    ...instruments,
    instrumentOpenSearch: combineInstruments(
      instruments.instrumentOpenSearch,
      tracing?.instrument('opensearch'),
    ),
    instrumentRedis: combineInstruments(instruments.instrumentRedis, tracing?.instrument('redis')),
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
