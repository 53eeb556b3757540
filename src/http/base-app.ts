import { TypeBoxValidatorCompiler } from '@fastify/type-provider-typebox'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
  LogController,
} from 'fastify'
import abandonedRequests from './plugins/abandoned-requests.ts'
import { newRequestId } from './request-id.ts'
import closeConnections from './server/close-connections.ts'
import {
  createHttpServer,
  defaultServerLimits,
  type HttpServerOptions,
  type ServerLimits,
} from './server/http-server.ts'
import { createMalformedRequestResponder } from './server/malformed-request.ts'
import { routableUrl } from './server/request-target.ts'

// Above the 16 KB limit of a request line: a long id is a 404, not an error of the router.
const MAX_PARAM_LENGTH = 32 * 1024

export interface BaseAppOptions {
  logger: FastifyBaseLogger
  /** Overrides of the default limits. */
  limits: Partial<ServerLimits> | undefined
  server: Pick<HttpServerOptions, 'acceptsBodies' | 'loadShedder' | 'onClose'>
  /** Called for each request that the HTTP server rejects. */
  onMalformed?(): void
  fastify: Pick<FastifyServerOptions, 'trustProxy' | 'bodyLimit'>
}

/** What the apps of all APIs share: the HTTP server, request ids and the shutdown; no route. */
export function createBaseApp(options: BaseAppOptions): FastifyInstance {
  const { logger, limits, server, onMalformed, fastify } = options
  const malformedRequests = createMalformedRequestResponder(({ requestId: request_id, reason }) => {
    logger.info({ request_id, status: 400, reason }, 'malformed request rejected')
    onMalformed?.()
  })
  const app = Fastify({
    ...fastify,
    loggerInstance: logger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    genReqId: newRequestId,
    return503OnClosing: false, // A request that arrives during shutdown still gets its response.
    rewriteUrl: ({ url = '/' }) => routableUrl(url),
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    serverFactory: (handler) => {
      const all = { ...defaultServerLimits, ...limits }
      return createHttpServer(handler, { ...server, malformedRequests, limits: all })
    },
    clientErrorHandler: () => {}, // Our server responds; Fastify would send a second response.
  })
  app.setValidatorCompiler(TypeBoxValidatorCompiler)
  app.register(closeConnections)
  app.register(abandonedRequests)
  return app
}
