import type { FastifyError, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { InvalidParamError } from '../../lib/errors/invalid-param-error.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'
import { ClientDisconnected } from '../../lib/request-scope.ts'
import { ApiError, renderError } from '../api-error.ts'
import { JSON_TYPE } from '../headers.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Of a route or a file that does not exist. @throws ApiError `resource_missing` */
    throwNotFound: () => never
  }
  interface FastifyRequest {
    /** The error of the response; `null` for a successful one. */
    apiError: ApiError | null
  }
}

export interface ErrorHandlerOptions {
  /** The response to an error of this app's domain; `undefined` for any other error. */
  toApiError?(thrown: unknown, route: FastifyRequest['routeOptions']): ApiError | undefined
  /** Of the 404 for an unknown route or file; that of the catalogue when absent. */
  notFoundMessage?: string
}

/** Converts every thrown error to a response; no other module does. */
export default fp<ErrorHandlerOptions>(
  async (app, { toApiError: convert = () => undefined, notFoundMessage: message }) => {
    app.decorateRequest('apiError', null)
    app.setErrorHandler<FastifyError | ApiError>((thrown, request, reply) => {
      const error =
        thrown instanceof ApiError
          ? thrown
          : (convert(thrown, request.routeOptions) ?? toApiError(thrown))
      request.apiError = error
      if (thrown instanceof Unavailable) request.log.warn({ reason: thrown.message }, 'unavailable')
      else if (error.status >= 500 && !(thrown instanceof ClientDisconnected)) {
        request.log.error({ err: error.cause ?? thrown }, 'failed')
      }
      // A cache can store a 404 by default (RFC 9110, 15.1); the order can exist a second later.
      reply.header('Cache-Control', 'no-store')
      // Fastify closes the connection after the error of a body. With unread input that is a reset,
      // which can overtake the response. Node reads the rest of the body instead. During a
      // shutdown, the server has set the header itself.
      if (!reply.raw.hasHeader('Connection')) reply.removeHeader('Connection')
      if (error.code === 'invalid_api_key') reply.header('WWW-Authenticate', 'Bearer')
      if (error.retryAfterSeconds !== undefined) {
        reply.header('Retry-After', error.retryAfterSeconds)
      }
      return reply.code(error.status).type(JSON_TYPE).send(renderError(error, request.id))
    })

    app.decorate('throwNotFound', () => {
      throw new ApiError('resource_missing', message ? { message } : {})
    })
    app.setNotFoundHandler(app.throwNotFound)
    // Before body parsing: a request for an unknown route is a 404 whatever its body contains.
    app.addHook('preParsing', async (request) => {
      if (request.is404) app.throwNotFound()
    })
  },
  { name: 'error-handler', dependencies: ['request-log'] },
)

function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof InvalidParamError) {
    const { param, message } = thrown
    return new ApiError('invalid_request', { param, message })
  }
  // A disconnected client never receives the response.
  const isTransient = thrown instanceof Unavailable || thrown instanceof ClientDisconnected
  if (isTransient) return new ApiError('service_unavailable', { cause: thrown })
  return new ApiError('internal_error', { cause: thrown })
}
