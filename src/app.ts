import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Config } from './config/config.ts'
import { trustsProxy } from './config/trusted-proxies.ts'
import { createBaseApp } from './http/base-app.ts'
import errorHandler from './http/plugins/error-handler.ts'
import releaseSlot from './http/plugins/release-slot.ts'
import requestLog from './http/plugins/request-log.ts'
import requestMetrics from './http/plugins/request-metrics.ts'
import requestTrace from './http/plugins/request-trace.ts'
import docs from './http/routes/docs.ts'
import { publicDocs } from './http/routes/docs-contents.ts'
import v1 from './http/routes/v1.ts'
import type { ServerLimits } from './http/server/http-server.ts'
import { createLoadShedder } from './http/server/load-shedding.ts'
import peers from './http/server/peers.ts'
import { createRejectionReporter } from './http/server/rejection-reporter.ts'
import { type Clock, wallClock } from './lib/clock.ts'
import type { Metrics } from './observability/metrics/registry.ts'
import type { Tracing } from './observability/tracing/tracing.ts'
import { type ChangelogEntry, deprecationsIn } from './openapi/changelog.ts'
import { readChangelog } from './openapi/openapi-files.ts'
import type { ServerServices } from './services.ts'

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
  const rejections = createRejectionReporter(logger, metrics)
  const loadShedder = createLoadShedder({
    maxConcurrent: config.maxConcurrentRequests,
    onShed: rejections.onShed,
  })
  const app = createBaseApp({
    logger,
    limits,
    server: { acceptsBodies: false, loadShedder, onClose: rejections.onClose },
    onMalformed: () => metrics.malformed.inc(),
    fastify: { trustProxy: trustsProxy(config.trustProxy) },
  })

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
