import fp from 'fastify-plugin'
import { isAccountId } from '../../../auth/account-ids.ts'
import { ManagementError } from '../../../management/management-error.ts'
import { handleUnknownParams } from '../../unknown-params.ts'

/**
 * Validates what all routes have in common: account ids in paths, and the names of query
 * parameters, which each route declares in its schema.
 */
export default fp(
  async (app) => {
    app.addHook('preHandler', async (request, reply) => {
      const { querystring } = (request.routeOptions.schema ?? {}) as RouteSchema
      handleUnknownParams(request, reply, Object.keys(querystring?.properties ?? {}))
      const { account } = request.params as { account?: string }
      // Not a 404: accounts exist without being created, so only the form of an id can be wrong.
      if (account !== undefined && !isAccountId(account)) {
        throw new ManagementError('invalid_account', 'the account id is not valid')
      }
    })
  },
  { name: 'request-params', dependencies: ['token-authentication'] },
)

interface RouteSchema {
  querystring?: { properties?: object }
}
