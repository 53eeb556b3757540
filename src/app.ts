import { TypeBoxValidatorCompiler } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Config } from './config/config.ts'
import errorHandler from './http/plugins/error-handler.ts'
import requestLog from './http/plugins/request-log.ts'
import requestMetrics from './http/plugins/request-metrics.ts'
import requestTrace from './http/plugins/request-trace.ts'
import docs from './http/routes/docs.ts'
import { publicDocs } from './http/routes/docs-contents.ts'
import v1 from './http/routes/v1.ts'
import connectionDraining from './http/server/graceful-shutdown.ts'
import {
  createHttpServer,
  defaultServerLimits,
  type ServerLimits,
} from './http/server/http-server.ts'
import releaseSlot, { createLoadShedder } from './http/server/load-shedding.ts'
import { createMalformedRequestResponder } from './http/server/malformed-request.ts'
import { createRejectionReporter } from './http/server/rejection-reporter.ts'
import peers from './http/server/slow-clients.ts'
import { type Clock, wallClock } from './lib/clock.ts'
import { newRequestId } from './lib/ids.ts'
import type { Metrics } from './observability/metrics/registry.ts'
import type { Tracing } from './observability/tracing/tracing.ts'
import { type ChangelogEntry, deprecationsIn } from './openapi/changelog.ts'
import { readChangelog } from './openapi/openapi-files.ts'
import type { ServerServices } from './services.ts'

// Above the 16 KB limit of a request line: a long id is a 404, not an error of the router.
const MAX_PARAM_LENGTH = 32 * 1024

export interface AppOptions {
  logger: FastifyBaseLogger
  metrics: Metrics
  /** Records request spans; `null` records none. */
  tracing?: Tracing | null
  /** Epoch milliseconds. */
  clock?: Clock
  /** Overrides of the default limits. */
  limits?: Partial<ServerLimits>
  /** The API changelog; defaults to `openapi/changes.json`. */
  changelog?: readonly ChangelogEntry[]
}

/** Builds the API, ready to listen. Hooks run in the order of registration. */
export function buildApp(
  config: Pick<Config, 'trustProxy' | 'rateLimit' | 'maxConcurrentRequests' | 'requestDeadlineMs'>,
  services: ServerServices,
  {
    logger,
    metrics,
    tracing = null,
    clock = wallClock,
    limits,
    changelog = readChangelog(),
  }: AppOptions,
): FastifyInstance {
  const malformedRequests = createMalformedRequestResponder(({ requestId: request_id, reason }) => {
    logger.info({ request_id, status: 400, reason }, 'malformed request rejected')
    metrics.malformed.inc()
  })
  const rejections = createRejectionReporter(logger, metrics)
  const loadShedder = createLoadShedder({
    maxConcurrent: config.maxConcurrentRequests,
    onShed: rejections.onShed,
  })
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    genReqId: newRequestId,
    trustProxy: config.trustProxy,
    return503OnClosing: false, // A request that arrives during shutdown is still answered.
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    serverFactory: (handler) => {
      const all = { ...defaultServerLimits, ...limits }
      return createHttpServer(handler, {
        malformedRequests,
        loadShedder,
        limits: all,
        onClose: rejections.onClose,
      })
    },
    clientErrorHandler: () => {}, // Our server answers; Fastify would send a second response.
  })
  app.setValidatorCompiler(TypeBoxValidatorCompiler)

  app.register(connectionDraining)
  app.register(releaseSlot, { loadShedder })
  app.register(peers)
  if (tracing !== null) app.register(requestTrace, { tracing })
  app.register(requestLog)
  app.register(requestMetrics, { metrics })
  app.register(errorHandler)
  app.register(docs, { contents: publicDocs })
  app.register(v1, {
    prefix: '/v1',
    pepper: services.keyPepper,
    keys: services.keys,
    keyCache: services.keyCache,
    limiter: services.limiter,
    clock,
    capacity: config.rateLimit.capacity,
    requestDeadlineMs: config.requestDeadlineMs,
    store: services.orders,
    cursors: services.cursors,
    deprecations: deprecationsIn(changelog),
    usage: services.usage,
  })
  return app
}
