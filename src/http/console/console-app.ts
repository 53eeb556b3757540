import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Management } from '../../management/management.ts'
import type { CursorCodec } from '../../orders/cursor.ts'
import type { OrderStore } from '../../orders/order-store.ts'
import { createManagementBase } from '../management/management-base.ts'
import idempotencyKeys from '../management/plugins/idempotency.ts'
import deliveriesRoutes from '../management/routes/deliveries.ts'
import keysRoutes from '../management/routes/keys.ts'
import sandboxRoutes from '../management/routes/sandbox.ts'
import usageRoutes from '../management/routes/usage.ts'
import webhookEndpointActionsRoutes from '../management/routes/webhook-endpoint-actions.ts'
import webhookEndpointsRoutes from '../management/routes/webhook-endpoints.ts'
import changeLimit from './plugins/change-limit.ts'
import sameOrigin from './plugins/same-origin.ts'
import securityHeaders from './plugins/security-headers.ts'
import sessionAuthentication from './plugins/session-authentication.ts'
import latestOrders from './routes/latest-orders.ts'
import pageRoutes from './routes/page.ts'
import { sessionRoutes, startSession } from './routes/session.ts'

export interface ConsoleAppOptions {
  management: Management
  orders: OrderStore
  /** The cursors of orders. */
  orderCursors: CursorCodec
  logger: FastifyBaseLogger
  /** The origin of the page. */
  origin(): string
}

const MAX_BODY_BYTES = 16 * 1_024
const ofAccount = { prefix: '/accounts/:account' }

/** Builds the console of an account: the page, and the calls that it sends. */
export function buildConsoleApp(options: ConsoleAppOptions): FastifyInstance {
  const { management, orders: store, orderCursors, logger, origin } = options
  const { keys, sandbox, webhooks, sessions, idempotency, stores, cursors, clock } = management
  // A form of another page can send text, and the base reads JSON alone.
  const app = createManagementBase({ logger, maxBodyBytes: MAX_BODY_BYTES, limits: {} })
  app.register(securityHeaders)
  app.register(pageRoutes)
  app.register(
    async (v1) => {
      v1.register(sameOrigin, { origin })
      v1.register(startSession, { sessions, clock })
      v1.register(async (account) => {
        account.register(sessionAuthentication, { sessions })
        // Without the limit, so that its user can always end a session.
        account.register(sessionRoutes, { sessions })
        account.register(async (limited) => {
          limited.register(changeLimit)
          limited.register(idempotencyKeys, { idempotency })
          limited.register(keysRoutes, { ...ofAccount, keys, usage: stores.usage, cursors })
          limited.register(sandboxRoutes, { sandbox, cursors })
          limited.register(webhookEndpointsRoutes, { ...ofAccount, webhooks, cursors })
          limited.register(webhookEndpointActionsRoutes, { ...ofAccount, webhooks })
          limited.register(deliveriesRoutes, { ...ofAccount, webhooks, cursors })
          limited.register(usageRoutes, { ...ofAccount, usage: stores.usage, clock })
          limited.register(latestOrders, { ...ofAccount, store, cursors: orderCursors })
        })
      })
      v1.setNotFoundHandler(v1.throwNotFound)
    },
    { prefix: '/v1' },
  )
  return app
}
