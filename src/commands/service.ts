import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { buildApp } from '../app.ts'
import type { Config } from '../config.ts'
import { combineInstruments } from '../lib/observe.ts'
import { instrumentServices } from '../metrics/count-services.ts'
import { registerProcessMetrics } from '../metrics/process.ts'
import { createMetrics, type Metrics } from '../metrics/serving.ts'
import { createReadiness, type Readiness } from '../readiness.ts'
import { openServerServices, type ServerServices } from '../services.ts'
import { openTracing } from '../tracing/open-tracing.ts'

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
