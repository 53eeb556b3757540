import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { RESOURCE_NOT_FOUND_MESSAGE } from '../api-error.ts'
import { createBaseApp } from '../base-app.ts'
import errorHandler from '../plugins/error-handler.ts'
import requestLog from '../plugins/request-log.ts'
import type { ServerLimits } from '../server/http-server.ts'
import { createClosedConnectionLog } from '../server/rejection-reporter.ts'
import jsonBodies from './plugins/json-bodies.ts'
import { toManagementApiError } from './to-api-error.ts'

export interface ManagementBaseOptions {
  logger: FastifyBaseLogger
  /** The largest body of a route that defines no other. */
  maxBodyBytes: number
  limits: Partial<ServerLimits>
}

/** What the management API and the console share: errors, logs and JSON bodies, and no route. */
export function createManagementBase(options: ManagementBaseOptions): FastifyInstance {
  const { logger, maxBodyBytes, limits } = options
  const app = createBaseApp({
    logger,
    limits,
    server: { acceptsBodies: true, onClose: createClosedConnectionLog(logger) },
    fastify: { bodyLimit: maxBodyBytes },
  })
  app.register(requestLog)
  app.register(errorHandler, {
    toApiError: toManagementApiError,
    notFoundMessage: RESOURCE_NOT_FOUND_MESSAGE,
  })
  app.register(jsonBodies)
  return app
}
