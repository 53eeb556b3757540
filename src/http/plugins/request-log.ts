import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import '../management/principal.ts'
import { safeParamLabel } from '../unknown-params.ts'

/**
 * Sends the id of a request in `Request-Id`, and logs one line with it. The service generates the
 * id; a `Request-Id` from the client is ignored. The route is its pattern, never the URL: a query
 * string can contain a key or personal data.
 */
export default fp(
  async (app) => {
    app.addHook('onRequest', (request, reply, next) => {
      reply.header('Request-Id', request.id)
      next()
    })
    // Its client may have read most of the response.
    app.onAbandoned((request, reply) => {
      const status = reply.raw.headersSent ? reply.raw.statusCode : null
      request.log.info({ ...entryOf(request, reply), status, abandoned: true }, 'request')
    })
    app.addHook('onResponse', (request, reply, done) => {
      request.log.info(entryOf(request, reply), 'request')
      done()
    })
  },
  { name: 'request-log', dependencies: ['abandoned-requests'] },
)

function entryOf(request: FastifyRequest, reply: FastifyReply) {
  const { caller, principal } = request
  return {
    method: request.method,
    route: request.routeOptions.url ?? null,
    status: reply.statusCode,
    code: request.apiError?.code,
    param: request.apiError === null ? undefined : safeParamLabel(request.apiError),
    duration_ms: Math.round(reply.elapsedTime * 1000) / 1000,
    account_id: caller?.accountId ?? principal?.accountId ?? undefined,
    key_id: caller?.key.keyId,
    token_name: principal?.tokenName ?? undefined,
  }
}
