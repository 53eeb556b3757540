import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { KeyManagement } from '../../../management/keys/key-management.ts'
import { NoFields } from '../body.ts'
import { AccountParams } from '../path-params.ts'
import { actorOf, authorize } from '../principal.ts'

export interface AccountsRoutesOptions {
  keys: Pick<KeyManagement, 'isAccountBlocked' | 'setAccountBlocked'>
}

/** `GET | PUT | DELETE /v1/accounts/{account}/block`. */
const accountsRoutes: FastifyPluginAsyncTypebox<AccountsRoutesOptions> = async (app, { keys }) => {
  app.get('/block', { schema: { params: AccountParams } }, async (request) => {
    const { account: accountId } = request.params
    authorize(request, { accountId })
    return accountJson(accountId, await keys.isAccountBlocked(accountId))
  })

  app.route({
    method: ['PUT', 'DELETE'],
    url: '/block',
    schema: { params: AccountParams },
    async handler(request) {
      const { account: accountId } = request.params
      authorize(request, { accountId })
      NoFields.parse(request.body)
      const isBlocked = request.method === 'PUT'
      await keys.setAccountBlocked(actorOf(request), accountId, isBlocked)
      return accountJson(accountId, isBlocked)
    },
  })
}

const accountJson = (id: string, blocked: boolean) => ({ object: 'account', id, blocked })

export default accountsRoutes
