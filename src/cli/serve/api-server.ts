import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { buildApp } from '../../app.ts'
import type { Config } from '../../config/config.ts'
import { createReadiness, type Readiness } from '../../http/operations/readiness.ts'
import { combineInstruments } from '../../lib/instrument.ts'
import { instrumentServices } from '../../observability/metrics/instrument-services.ts'
import { registerProcessMetrics } from '../../observability/metrics/process.ts'
import { createMetrics, type Metrics } from '../../observability/metrics/registry.ts'
import type { Tracing } from '../../observability/tracing/tracing.ts'
import { openServerServices, type ServerServices } from '../../services.ts'
import { openTracing } from '../open-tracing.ts'

export interface ServeOptions {
  /** Seeds demo orders and prints a key with example calls. */
  demo: boolean
}

/** The API of one process: the whole service, or one worker of a cluster. */
export interface ApiServer {
  /** Ready to listen. */
  app: FastifyInstance
  services: ServerServices
  metrics: Metrics
  tracing: Tracing | null
  isReady: Readiness
  /** Waits for the requests in flight, then closes every service. */
  close(): Promise<void>
}

/** Opens the instrumented services of the API and builds the app. */
export async function openApiServer(config: Config, logger: Logger): Promise<ApiServer> {
  const metrics = createMetrics()
  registerProcessMetrics(metrics)
  const tracing = await openTracing(config, logger)
  const instruments = instrumentServices(metrics)
  const services = await openServerServices(config, {
    ...instruments,
    instrumentOpenSearch: combineInstruments(
      instruments.instrumentOpenSearch,
      tracing?.instrument('opensearch'),
    ),
    instrumentCounters: combineInstruments(
      instruments.instrumentCounters,
      tracing?.instrument('redis'),
    ),
    onDegraded: (err) =>
      logger.warn({ err }, 'Redis does not respond: rate limits are local to this process'),
    onRecovered: () => logger.info('Redis responds again: rate limits are shared'),
    onUsageFailure: (err) => logger.warn({ err }, 'usage of keys not stored: it is kept in memory'),
    onUsageRecovered: () => logger.info('usage of keys is stored again'),
    onWarning(warning) {
      logger.warn(warning)
      logger.flush() // An upgrade of orders.db, of which it warns, blocks the event loop.
    },
  })
  const app = buildApp(config, services, { logger, metrics, tracing })
  return {
    app,
    services,
    metrics,
    tracing,
    isReady: createReadiness(services, logger),
    async close() {
      await app.close()
      // At once, because a collector that does not respond takes seconds of the shutdown.
      await Promise.all([tracing?.close(), services.close()])
    },
  }
}
