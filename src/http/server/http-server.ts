import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { headerValues } from '../headers.ts'
import { connectionTrackerOf } from './connection-tracker.ts'
import type { LoadShedder } from './load-shedding.ts'
import type { MalformedRequestResponder } from './malformed-request.ts'
import { type CloseReason, closeSlowClients, type SlowClientLimits } from './slow-clients.ts'

/** Bytes of request line and headers together. */
const MAX_HEADER_BYTES = 16 * 1024
const KEEP_ALIVE_MS = 72_000
/** How long a refused connection may take to read its answer. */
const LINGER_MS = 1_000

/** What a client may take up, and for how long, in milliseconds. */
export interface ServerLimits extends SlowClientLimits {
  /** To send the headers of a request; also until the first one. */
  headersMs: number
  /** To send all of a request. */
  requestMs: number
}

export const defaultServerLimits: ServerLimits = {
  headersMs: 20_000,
  requestMs: 30_000,
  // Longer than it seems to need: a loopback or a near proxy takes some 1.5 MB from the process at a time, and what is
  // read of those is not visible here. So 12 KB/s are progress in the worst case, on real networks much less.
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
 * Node's server, with everything that Node would answer by itself, without a body and a `Request-Id`,
 * answered by us: `400 invalid_request` and the connection closed (contract, "Error object"). What cannot be
 * answered soon is answered before the handler is asked, and who holds a connection without use loses it.
 */
export function createHttpServer(
  handler: RequestListener,
  { malformedRequests, loadShedder, limits, onClose }: HttpServerOptions,
): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requireHostHeader: false, // Node's own refusal has no body; `faultOf` is ours.
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
  // No route takes a body, so there is nothing an expectation could be about.
  server.on('checkContinue', (_request, response) => malformedRequests.respond(response, 'expect'))
  server.on('checkExpectation', (_request, response) =>
    malformedRequests.respond(response, 'expect'),
  )
  server.on('connect', (_request, stream) => {
    const socket = stream as Socket
    socket.on('error', () => socket.destroy()) // Node has let go of it.
    afterResponses(socket, () => respondAndClose(socket, malformedRequests.rawResponse('connect')))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket
    if (rejected.has(socket)) return // More of what was refused already, until the client has read why.
    rejected.add(socket)
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy(error)
      return
    }
    const lastResponse = connections.lastResponse(socket)
    // What is bad is the body of a request that has its answer: a second one would be taken for the next's.
    const isBody = lastResponse !== undefined && !lastResponse.req.complete
    afterResponses(socket, () => {
      if (isBody) socket.destroy()
      else respondAndClose(socket, malformedRequests.rawResponse(error.code ?? 'unknown'))
    })
  })
  return server

  /** Requests before a bad one get their answers first: ours in the midst of one would garble it. */
  function afterResponses(socket: Socket, end: () => void): void {
    const lastResponse = connections.lastResponse(socket)
    if (lastResponse === undefined || lastResponse.closed) end()
    else lastResponse.once('close', end)
  }
}

/**
 * Answers and closes. A socket destroyed at once, with input still unread, resets the connection, and
 * the client may lose the answer; so it is drained for a moment first.
 */
function respondAndClose(socket: Socket, response: Buffer): void {
  if (!socket.writable) return
  socket.removeAllListeners('data')
  socket.on('error', () => socket.destroy())
  socket.end(response)
  socket.resume()
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

/** What makes a request none that HTTP/1 allows, where the parser let it pass. */
function findProtocolViolation({ httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'version'
  const hosts = headerValues(rawHeaders, 'host').length
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0') ? undefined : 'host'
}

/** A path whose percent signs cannot be decoded is taken to the letter: it names nothing, so it is a 404. */
function routableUrl(url: string): string {
  const [path = '', ...query] = url.split('?')
  if (!path.includes('%')) return url
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?')
  }
}
