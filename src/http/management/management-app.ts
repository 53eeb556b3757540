import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { ManagementToken } from '../../config/parsers.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import type { Management } from '../../management/management.ts'
import type { ManagementMetrics } from '../../observability/metrics/management.ts'
import docs from '../routes/docs.ts'
import { managementDocs } from '../routes/docs-contents.ts'
import type { ServerLimits } from '../server/http-server.ts'
import { MAX_BODY_BYTES } from './body.ts'
import { createManagementBase } from './management-base.ts'
import idempotencyKeys from './plugins/idempotency.ts'
import requestParams from './plugins/request-params.ts'
import tokenAuthentication from './plugins/token-authentication.ts'
import accountsRoutes from './routes/accounts.ts'
import auditRoutes from './routes/audit.ts'
import deliveriesRoutes from './routes/deliveries.ts'
import keysRoutes from './routes/keys.ts'
import sandboxRoutes from './routes/sandbox.ts'
import sessionsRoutes from './routes/sessions.ts'
import sourceOrdersRoutes from './routes/source-orders.ts'
import usageRoutes from './routes/usage.ts'
import webhookEndpointActionsRoutes from './routes/webhook-endpoint-actions.ts'
import webhookEndpointsRoutes from './routes/webhook-endpoints.ts'

export interface ManagementAppOptions {
  tokens: readonly ManagementToken[]
  logger: FastifyBaseLogger
  metrics: ManagementMetrics
  /** The origin of the console; `null` when there is none. */
  consoleUrl: string | null
  /** Overrides of the default limits. */
  limits?: Partial<ServerLimits>
}

const REQUEST_MS = MINUTE_MS

/** Builds the management API: an internal port, which the edge never publishes. */
export function buildManagementApp(
  management: Management,
  { tokens, logger, metrics, consoleUrl, limits }: ManagementAppOptions,
): FastifyInstance {
  const {
    keys,
    sandbox,
    sessions,
    webhooks,
    audit,
    ingestion,
    idempotency,
    stores,
    cursors,
    clock,
  } = management
  const app = createManagementBase({
    logger,
    maxBodyBytes: MAX_BODY_BYTES,
    limits: { requestMs: REQUEST_MS, ...limits },
  })
  app.addHook('onResponse', async ({ method, routeOptions }, { statusCode, elapsedTime }) => {
    const route = routeOptions.url ?? 'none'
    metrics.requestSeconds.observe({ method, route, status: statusCode }, elapsedTime / 1_000)
  })
  app.register(docs, { contents: managementDocs })
  app.register(
    async (v1) => {
      const onRejected = () => metrics.rejectedTokens.inc()
      const account = { prefix: '/accounts/:account' }
      // A response can contain a secret.
      v1.addHook('onRequest', async (_request, reply) => {
        reply.header('Cache-Control', 'no-store')
      })
      v1.register(tokenAuthentication, { tokens, onRejected })
      v1.register(requestParams)
      v1.register(idempotencyKeys, { idempotency })
      v1.register(auditRoutes, { audit, cursors })
      v1.register(keysRoutes, { ...account, keys, usage: stores.usage, cursors })
      v1.register(sandboxRoutes, { sandbox, cursors })
      v1.register(accountsRoutes, { ...account, keys })
      v1.register(webhookEndpointsRoutes, { ...account, webhooks, cursors })
      v1.register(webhookEndpointActionsRoutes, { ...account, webhooks })
      v1.register(deliveriesRoutes, { ...account, webhooks, cursors })
      v1.register(usageRoutes, { ...account, usage: stores.usage, clock })
      v1.register(sourceOrdersRoutes, {
        ingestion,
        onResult: (result) => metrics.sourceOrders.inc({ result }),
      })
      v1.register(sessionsRoutes, { ...account, sessions, consoleUrl })
      v1.setNotFoundHandler(v1.throwNotFound)
    },
    { prefix: '/v1' },
  )
  return app
}
