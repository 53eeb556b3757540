import type { FastifyPluginAsync } from 'fastify'
import authenticate, { type AuthenticateOptions } from '../plugins/authenticate.ts'
import authorize from '../plugins/authorize.ts'
import deprecationHeaders, { type DeprecationsOptions } from '../plugins/deprecations.ts'
import rateLimit, { type RateLimitOptions } from '../plugins/rate-limit.ts'
import requestScope from '../plugins/request-scope.ts'
import usageCounts, { type UsageOptions } from '../plugins/usage.ts'
import accountRoutes from './account.ts'
import ordersRoutes, { type OrdersRoutesOptions } from './orders.ts'

type V1Options = AuthenticateOptions &
  DeprecationsOptions &
  OrdersRoutesOptions &
  RateLimitOptions &
  UsageOptions

/**
 * Registers `/v1` in the order of its checks: key, rate limit, account, scope, route, parameters.
 */
const v1: FastifyPluginAsync<V1Options> = async (app, options) => {
  const { pepper, keys, keyCache, limiter, clock, capacity, store, cursors } = options
  const { deprecations, requestDeadlineMs, usage } = options
  app.register(requestScope, { deadlineMs: requestDeadlineMs })
  if (deprecations.length > 0) app.register(deprecationHeaders, { deprecations })
  app.register(authenticate, { pepper, keys, keyCache, limiter, clock, requestDeadlineMs })
  app.register(usageCounts, { usage })
  app.register(rateLimit, { limiter, capacity })
  app.register(authorize, { scopes: ['orders:read', 'orders:read_masked'] })
  app.register(accountRoutes)
  app.register(ordersRoutes, { store, cursors })
  // Set here, so that the checks above also apply to unknown paths below /v1.
  app.setNotFoundHandler(app.throwNotFound)
}

export default v1
