import fp from 'fastify-plugin'
import type { Scope } from '../../auth/key-store.ts'
import { ApiError } from '../api-error.ts'
import { callerOf } from './authenticate.ts'

export interface AuthorizeOptions {
  scope: Scope
}

/** Rejects blocked accounts and keys without the scope. */
export default fp<AuthorizeOptions>(
  async (app, { scope }) => {
    app.addHook('onRequest', async (request) => {
      const caller = callerOf(request)
      if (caller.accountBlocked) throw new ApiError('account_blocked')
      if (!caller.scopes.includes(scope)) throw new ApiError('insufficient_access')
    })
  },
  { name: 'authorize', dependencies: ['rate-limit'] },
)
