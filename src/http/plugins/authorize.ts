import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Scope } from '../../auth/key-store.ts'
import { ApiError } from '../api-error.ts'
import { callerOf } from './authenticate.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route is open to every active key, also to one without scopes. */
    needsNoScope?: true
  }
}

export interface AuthorizeOptions {
  /** A key needs one of these. */
  scopes: readonly Scope[]
}

/** Rejects blocked accounts and keys without a scope of the route, also for unknown routes. */
export default fp<AuthorizeOptions>(
  async (app, { scopes }) => {
    function rejectionOf(request: FastifyRequest): ApiError | undefined {
      const { accountBlocked, key } = callerOf(request)
      if (accountBlocked) return new ApiError('account_blocked')
      const isAllowed =
        request.routeOptions.config?.needsNoScope ||
        scopes.some((scope) => key.scopes.includes(scope))
      return isAllowed ? undefined : new ApiError('insufficient_access')
    }

    app.addHook('onRequest', (request, _reply, next) => next(rejectionOf(request)))
  },
  { name: 'authorize', dependencies: ['rate-limit'] },
)
