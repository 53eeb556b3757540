import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { headerValues } from './headers.ts'
import type { Refuse } from './refusals.ts'

/** Bytes of request line and headers together. */
const MAX_HEADER_BYTES = 16 * 1024
const HEADERS_TIMEOUT_MS = 20_000
const REQUEST_TIMEOUT_MS = 30_000
const TIMEOUT_CHECK_MS = 5_000
const KEEP_ALIVE_MS = 72_000
/** How long a refused connection may take to read its answer. */
const LINGER_MS = 1_000

/**
 * Node's server, with everything that Node would answer by itself, without a body and a `Request-Id`,
 * answered by us: `400 invalid_request` and the connection closed (contract, "Error object").
 */
export function createHttpServer(handler: RequestListener, refuse: Refuse): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requireHostHeader: false, // Node's own refusal has no body; `hasOneHost` is ours.
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  })

  const refused = new WeakSet<Socket>()

  server.on('request', (request, response) => {
    if (!hasOneHost(request)) {
      refuse.response(response, 'host')
      return
    }
    request.url = routableUrl(request.url ?? '/')
    handler(request, response)
  })
  // No route takes a body, so there is nothing an expectation could be about.
  server.on('checkContinue', (_request, response) => refuse.response(response, 'expect'))
  server.on('checkExpectation', (_request, response) => refuse.response(response, 'expect'))
  server.on('connect', (_request, socket) => finish(socket as Socket, refuse.bytes('connect')))
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as AnsweringSocket
    if (refused.has(socket)) return // More of what was refused already, until the client has read why.
    refused.add(socket)
    const answering = socket._httpMessage?.headersSent ?? false
    // Bytes of ours in the middle of another answer would garble it.
    if (error.code === 'ECONNRESET' || !socket.writable || answering) socket.destroy(error)
    else finish(socket, refuse.bytes(error.code ?? 'unknown'))
  })
  return server
}

/** Node's socket while a response is being written to it. */
type AnsweringSocket = Socket & { _httpMessage?: { headersSent: boolean } }

/**
 * Answers and closes. A socket destroyed at once, with input still unread, resets the connection, and
 * the client may lose the answer; so it is drained for a moment first.
 */
function finish(socket: Socket, answer: Buffer): void {
  socket.removeAllListeners('data')
  socket.on('error', () => socket.destroy())
  socket.end(answer)
  socket.resume()
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

function hasOneHost({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  const hosts = headerValues(rawHeaders, 'host').length
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0')
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
