import fp from 'fastify-plugin'
import type { Scope } from '../../auth/key-store.ts'
import { ApiError } from '../api-error.ts'
import { callerOf } from './caller.ts'

export interface AuthorizeOptions {
  scope: Scope
}

/** Blocked accounts and keys without the scope (contract, "Authentication" 6 and 7). */
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
