import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The open connections of a server and the requests in flight on them. */
export interface ConnectionTracker {
  readonly open: ReadonlySet<Socket>
  /** Connections without a request in flight; the longest-idle first. */
  readonly idle: ReadonlySet<Socket>
  /** Closes the longest-idle connection. */
  closeLongestIdle(): void
  /** Responses that are not completely flushed, in the order of their requests. */
  readonly inFlight: ReadonlySet<ServerResponse>
  /** The response to the latest request of a connection. */
  lastResponse(socket: Socket): ServerResponse | undefined
  /** The number of connections and requests accepted so far. */
  acceptedCount(): number
  /** From now on, every response closes its connection and sends `Connection: close`. */
  closeAfterResponses(): void
}

/**
 * A property of the socket, because V8 keeps the new values of a long-lived WeakMap until a full
 * collection, with all that they refer to.
 */
const LAST_RESPONSE = Symbol('last response')

interface TrackedSocket extends Socket {
  [LAST_RESPONSE]?: ServerResponse
}

const trackers = new WeakMap<Server, ConnectionTracker>()

/** Returns the one tracker of a server. Tracking starts at the first call. */
export function connectionTrackerOf(server: Server): ConnectionTracker {
  const tracker = trackers.get(server) ?? track(server)
  trackers.set(server, tracker)
  return tracker
}

function track(server: Server): ConnectionTracker {
  const open = new Set<Socket>()
  const idle = new Set<Socket>()
  const inFlight = new Set<ServerResponse>()
  let acceptedCount = 0
  let isClosing = false

  server.on('connection', (socket: TrackedSocket) => {
    acceptedCount += 1
    open.add(socket)
    idle.add(socket)
    socket.once('close', () => {
      open.delete(socket)
      idle.delete(socket)
      // After `connect`, Node emits no `close` for the socket's responses. They complete in order,
      // so the last one decides for all.
      const lastResponse = socket[LAST_RESPONSE]
      if (lastResponse === undefined || !inFlight.has(lastResponse)) return
      for (const response of inFlight) if (response.req.socket === socket) inFlight.delete(response)
    })
  })

  // Runs before the handler, while the response headers can still change.
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const socket: TrackedSocket = request.socket
    acceptedCount += 1
    idle.delete(socket)
    inFlight.add(response)
    // Of pipelined requests, only the last response can close the connection.
    const previous = socket[LAST_RESPONSE]
    if (isClosing && previous?.headersSent === false) previous.removeHeader('Connection')
    socket[LAST_RESPONSE] = response
    if (isClosing) response.setHeader('Connection', 'close')
    response.once('close', () => {
      inFlight.delete(response)
      if (socket[LAST_RESPONSE] === response && open.has(socket)) idle.add(socket)
    })
  })

  return {
    open,
    idle,
    inFlight,
    lastResponse: (socket: TrackedSocket) => socket[LAST_RESPONSE],
    acceptedCount: () => acceptedCount,

    closeLongestIdle() {
      const [longestIdle] = idle
      if (longestIdle === undefined) return
      idle.delete(longestIdle)
      longestIdle.destroy()
    },

    closeAfterResponses() {
      isClosing = true
      for (const response of inFlight) {
        const socket: TrackedSocket = response.req.socket
        const isLast = socket[LAST_RESPONSE] === response
        if (isLast && !response.headersSent) response.setHeader('Connection', 'close')
      }
    },
  }
}
