import { TypeBoxValidatorCompiler } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { newRequestId } from '../../lib/ids.ts'
import errorHandler from '../plugins/error-handler.ts'
import requestLog from '../plugins/request-log.ts'
import connectionDraining from '../server/graceful-shutdown.ts'
import { createMalformedRequestResponder } from '../server/malformed-request.ts'
import { routableUrl } from '../server/request-target.ts'
import jsonBodies from './plugins/json-bodies.ts'
import { NOT_FOUND } from './principal.ts'
import { toManagementApiError } from './to-api-error.ts'

export interface ManagementBaseOptions {
  logger: FastifyBaseLogger
  /** The largest body of a route that defines no other. */
  maxBodyBytes: number
  /** The time for a whole request, in milliseconds. */
  requestMs: number
}

/** As of the public API: a long id is a 404, not an error of the router. */
const MAX_PARAM_LENGTH = 32 * 1_024
const HEADERS_MS = 20_000

/** What the management API and the console share: errors, logs and JSON bodies, and no route. */
export function createManagementBase(options: ManagementBaseOptions): FastifyInstance {
  const { logger, maxBodyBytes, requestMs } = options
  const malformed = createMalformedRequestResponder(({ requestId: request_id, reason }) =>
    logger.info({ request_id, status: 400, reason }, 'malformed request rejected'),
  )
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    genReqId: newRequestId,
    bodyLimit: maxBodyBytes,
    requestTimeout: requestMs,
    http: { headersTimeout: HEADERS_MS },
    return503OnClosing: false,
    rewriteUrl: ({ url = '/' }) => routableUrl(url),
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    clientErrorHandler(error, socket) {
      if (socket.writable) socket.end(malformed.rawResponse(error.code))
      else socket.destroy(error)
    },
  })
  app.setValidatorCompiler(TypeBoxValidatorCompiler)
  app.register(connectionDraining)
  app.register(requestLog)
  app.register(errorHandler, { toApiError: toManagementApiError, notFoundMessage: NOT_FOUND })
  app.register(jsonBodies)
  return app
}
