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
    app.addHook('onRequest', async (request) => {
      const { accountBlocked, key } = callerOf(request)
      if (accountBlocked) throw new ApiError('account_blocked')
      if (request.routeOptions.config?.needsNoScope) return
      if (!scopes.some((scope) => key.scopes.includes(scope))) {
        throw new ApiError('insufficient_access')
      }
    })
  },
  { name: 'authorize', dependencies: ['rate-limit'] },
)
