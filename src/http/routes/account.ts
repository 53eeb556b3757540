import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { KeyRecord } from '../../auth/key-store.ts'
import { formatInstantOrNull } from '../../lib/instant.ts'
import { sendCacheable } from '../conditional-requests.ts'
import { callerOf } from '../plugins/authenticate.ts'
import { handleUnknownParams } from '../unknown-params.ts'
import type { Account } from './account-schema.ts'
import { AnyQuery, READ_METHODS } from './read-route.ts'

/** `GET /v1/account`: which account and key a request has. Integrations check a key with it. */
const accountRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: READ_METHODS,
    url: '/account',
    schema: { querystring: AnyQuery },
    // A key without scopes is valid too: the response shows why it reads nothing.
    config: { needsNoScope: true },
    async handler(request, reply) {
      handleUnknownParams(request, reply, [])
      const json = JSON.stringify(accountOf(callerOf(request).key))
      return sendCacheable(request, reply, Buffer.from(json))
    },
  })
}

function accountOf({ accountId, isTest, keyId, name, scopes, expiresAt }: KeyRecord): Account {
  return {
    object: 'account',
    id: accountId,
    test: isTest,
    key: {
      id: keyId,
      name,
      scopes: [...scopes],
      expires_at: formatInstantOrNull(expiresAt),
    },
  }
}

export default accountRoutes
