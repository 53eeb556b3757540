import type { FastifyPluginAsync } from 'fastify'
import type { KeyCache } from '../../auth/key-cache.ts'
import type { KeyStore } from '../../auth/key-store.ts'
import type { Clock } from '../../lib/clock.ts'
import type { UsageRecorder } from '../../management/usage/usage-recorder.ts'
import type { Deprecation } from '../../openapi/changelog.ts'
import type { CursorCodec } from '../../orders/cursor.ts'
import type { OrderStore } from '../../orders/order-store.ts'
import type { Limiter } from '../../rate-limit/limiter.ts'
import authenticate from '../plugins/authenticate.ts'
import authorize from '../plugins/authorize.ts'
import deprecationHeaders from '../plugins/deprecations.ts'
import rateLimit from '../plugins/rate-limit.ts'
import requestScope from '../plugins/request-scope.ts'
import usageCounts from '../plugins/usage.ts'
import accountRoutes from './account.ts'
import ordersRoutes from './orders.ts'

export interface V1Options {
  pepper: Uint8Array
  keys: KeyStore
  keyCache: KeyCache
  limiter: Limiter
  clock: Clock
  capacity: number
  /** From the arrival of a request until its response is rendered, in milliseconds. */
  requestDeadlineMs: number
  store: OrderStore
  cursors: CursorCodec
  deprecations: readonly Deprecation[]
  usage: Pick<UsageRecorder, 'record'>
}

/**
 * Registers `/v1` in the order of its checks: key, rate limit, account, scope, route, parameters.
 */
const v1: FastifyPluginAsync<V1Options> = async (app, options) => {
  const { pepper, keys, keyCache, limiter, clock, capacity, store, cursors } = options
  const { deprecations, requestDeadlineMs } = options
  app.register(requestScope, { deadlineMs: requestDeadlineMs })
  if (deprecations.length > 0) app.register(deprecationHeaders, { deprecations })
  app.register(authenticate, { pepper, keys, keyCache, limiter, clock, requestDeadlineMs })
  app.register(usageCounts, { usage: options.usage })
  app.register(rateLimit, { limiter, capacity })
  app.register(authorize, { scopes: ['orders:read', 'orders:read_masked'] })
  app.register(accountRoutes)
  app.register(ordersRoutes, { store, cursors })
  // Set here, so that the checks above also apply to unknown paths below /v1.
  app.setNotFoundHandler(app.throwNotFound)
}

export default v1
