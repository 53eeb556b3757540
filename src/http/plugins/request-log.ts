import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { safeParamLabel } from '../unknown-params.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the whole response was sent; its client may disconnect before that. */
    isResponseSent: boolean
  }
}

/**
 * Sends the id of a request in `Request-Id`, and logs one line with it. The service generates the
 * id; a `Request-Id` from the client is ignored. The route is its pattern, never the URL: a query
 * string can contain a key or personal data.
 */
export default fp(
  async (app) => {
    app.decorateRequest('isResponseSent', false)
    app.addHook('onRequest', (request, reply, next) => {
      reply.header('Request-Id', request.id)
      const { raw } = reply
      // `onResponse` does not run for these, whose client may have read most of the response.
      raw.once('close', () => {
        if (request.isResponseSent) return
        const status = raw.headersSent ? raw.statusCode : null
        request.log.info({ ...entryOf(request, reply), status, abandoned: true }, 'request')
      })
      next()
    })
    app.addHook('onResponse', (request, reply, done) => {
      request.isResponseSent = true
      request.log.info(entryOf(request, reply), 'request')
      done()
    })
  },
  { name: 'request-log' },
)

function entryOf(request: FastifyRequest, reply: FastifyReply) {
  return {
    method: request.method,
    route: request.routeOptions.url ?? null,
    status: reply.statusCode,
    code: request.apiError?.code,
    param: request.apiError === null ? undefined : safeParamLabel(request.apiError),
    duration_ms: Math.round(reply.elapsedTime * 1000) / 1000,
    account_id: request.caller?.accountId,
    key_id: request.caller?.key.keyId,
  }
}
