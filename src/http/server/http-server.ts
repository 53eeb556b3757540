import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { headerValues } from '../headers.ts'
import { connectionTrackerOf } from './connection-tracker.ts'
import type { LoadShedder } from './load-shedding.ts'
import type { MalformedRequestResponder } from './malformed-request.ts'
import { isRequestTarget, routableUrl } from './request-target.ts'
import { type CloseReason, closeSlowClients, type SlowClientLimits } from './slow-clients.ts'

/** The maximum size of request line and headers together. */
const MAX_HEADER_BYTES = 16 * 1024
const KEEP_ALIVE_MS = 72_000
/** How long a rejected client can take to read its response. */
const LINGER_MS = 1_000

/** The resources that a client can use; durations in milliseconds. */
export interface ServerLimits extends SlowClientLimits {
  /** The time for the headers of a request, and for the first byte of a connection. */
  headersMs: number
  /** The time for a whole request. */
  requestMs: number
}

export const defaultServerLimits: ServerLimits = {
  headersMs: 20_000,
  requestMs: 30_000,
  // Long, because a loopback or nearby proxy buffers about 1.5 MB, and its reads are not visible
  // here. In the worst case a client needs 12 KB/s to show progress; on real networks much less.
  stallMs: 120_000,
  checkIntervalMs: 1_000,
  maxConnections: 4_096,
  maxUnreadBytes: 64 * 2 ** 20,
}

export interface HttpServerOptions {
  malformedRequests: MalformedRequestResponder
  loadShedder: Pick<LoadShedder, 'shed'>
  limits: ServerLimits
  onClose(reason: CloseReason): void
}

/**
 * Creates Node's server with our own responses to malformed requests: `400 invalid_request`, then
 * close. Node's built-in ones have neither body nor `Request-Id`. Load shedding precedes the
 * handler, and slow or idle connections are closed.
 */
export function createHttpServer(
  handler: RequestListener,
  { malformedRequests, loadShedder, limits, onClose }: HttpServerOptions,
): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requireHostHeader: false, // Node's own 400 has no body; `findProtocolViolation` checks instead.
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.headersMs / 4,
    keepAliveTimeout: KEEP_ALIVE_MS,
  })

  const rejected = new WeakSet<Socket>()
  const connections = connectionTrackerOf(server)
  closeSlowClients(server, connections, limits, onClose)

  server.on('request', (request, response) => {
    const violation = findProtocolViolation(request)
    if (violation !== undefined) {
      malformedRequests.respond(response, violation)
      return
    }
    if (loadShedder.shed(response)) return
    request.url = routableUrl(request.url ?? '/')
    handler(request, response)
  })
  // No route accepts a body, so no expectation applies.
  server.on('checkContinue', (_request, response) => malformedRequests.respond(response, 'expect'))
  server.on('checkExpectation', (_request, response) =>
    malformedRequests.respond(response, 'expect'),
  )
  server.on('connect', (_request, stream) => {
    const socket = stream as Socket
    socket.on('error', () => socket.destroy()) // Node has detached its own handler.
    afterResponses(socket, () => respondAndClose(socket, malformedRequests.rawResponse('connect')))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket
    // Further data of a rejected client that still reads the response.
    if (rejected.has(socket)) return
    rejected.add(socket)
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy(error)
      return
    }
    const lastResponse = connections.lastResponse(socket)
    // The body of an answered request is malformed: the client would match a second response to its
    // next request.
    const isBody = lastResponse !== undefined && !lastResponse.req.complete
    afterResponses(socket, () => {
      if (isBody) socket.destroy()
      else respondAndClose(socket, malformedRequests.rawResponse(error.code ?? 'unknown'))
    })
  })
  return server

  /**
   * Waits for the responses to earlier pipelined requests; interleaved bytes would corrupt them.
   */
  function afterResponses(socket: Socket, end: () => void): void {
    const lastResponse = connections.lastResponse(socket)
    if (lastResponse === undefined || lastResponse.closed) end()
    else lastResponse.once('close', end)
  }
}

/**
 * Sends the response, then closes. Destroying a socket with unread input resets the connection, and
 * the client can lose the response, so the input is drained first.
 */
function respondAndClose(socket: Socket, response: Buffer): void {
  if (!socket.writable) return
  socket.removeAllListeners('data')
  socket.on('error', () => socket.destroy())
  socket.end(response)
  socket.resume()
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

/** Returns the violation of HTTP/1 that Node's parser accepts, if any. */
function findProtocolViolation(request: IncomingMessage): string | undefined {
  const { httpVersion, rawHeaders, url = '/' } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'version'
  if (!isRequestTarget(url)) return 'target'
  const hosts = headerValues(rawHeaders, 'host').length
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0') ? undefined : 'host'
}
