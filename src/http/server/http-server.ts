import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { nodeHttp } from '../../lib/node-http.ts'
import { headerValues } from '../headers.ts'
import { connectionTrackerOf } from './connection-tracker.ts'
import type { LoadShedder } from './load-shedding.ts'
import type { MalformedRequestResponder } from './malformed-request.ts'
import { isRequestTarget } from './request-target.ts'
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
  /** Sheds no request when absent. */
  loadShedder?: Pick<LoadShedder, 'shed'>
  /** Whether the handler reads bodies. */
  acceptsBodies: boolean
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
  { malformedRequests, loadShedder, acceptsBodies, limits, onClose }: HttpServerOptions,
): Server {
  const server = nodeHttp.createServer({
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
    if (!loadShedder?.shed(response)) handler(request, response)
  })
  // Without this listener, Node sends `100 Continue`.
  if (!acceptsBodies) server.on('checkContinue', rejectExpectation)
  server.on('checkExpectation', rejectExpectation)
  server.on('connect', (_request, stream) => {
    const socket = stream as Socket
    socket.on('error', () => socket.destroy()) // Node has detached its own handler.
    afterResponse(connections.lastResponse(socket), () =>
      respondAndClose(socket, malformedRequests.rawResponse('connect')),
    )
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
    const respond = () =>
      respondAndClose(socket, malformedRequests.rawResponse(error.code ?? 'unknown'))
    const last = connections.lastResponse(socket)
    if (last === undefined || last.req.complete) {
      afterResponse(last, respond)
      return
    }
    // The error is in the body. A handler that reads bodies sends no response then. Where one was
    // sent, the client would match a second one to its next request.
    afterResponse(acceptsBodies ? responseBefore(last) : last, () => {
      if (acceptsBodies && !last.headersSent) respond()
      else afterResponse(last, () => socket.destroy())
    })
  })
  return server

  function rejectExpectation(_request: IncomingMessage, response: ServerResponse): void {
    malformedRequests.respond(response, 'expect')
  }

  /** Returns the response in flight before the latest one of its connection. */
  function responseBefore({ req: { socket } }: ServerResponse): ServerResponse | undefined {
    return [...connections.inFlight].filter(({ req }) => req.socket === socket).at(-2)
  }
}

/** Waits for a response to an earlier pipelined request; interleaved bytes would corrupt it. */
function afterResponse(response: ServerResponse | undefined, callback: () => void): void {
  if (response === undefined || response.closed) callback()
  else response.once('close', callback)
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
