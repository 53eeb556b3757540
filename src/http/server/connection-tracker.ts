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
  const lastResponses = new WeakMap<Socket, ServerResponse>()
  let acceptedCount = 0
  let isClosing = false

  server.on('connection', (socket: Socket) => {
    acceptedCount += 1
    open.add(socket)
    idle.add(socket)
    socket.once('close', () => {
      open.delete(socket)
      idle.delete(socket)
      // After `connect`, Node emits no `close` for the socket's responses. They complete in order,
      // so the last one decides for all.
      const lastResponse = lastResponses.get(socket)
      if (lastResponse === undefined || !inFlight.has(lastResponse)) return
      for (const response of inFlight) if (response.req.socket === socket) inFlight.delete(response)
    })
  })

  // Runs before the handler, while the response headers can still change.
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    acceptedCount += 1
    idle.delete(socket)
    inFlight.add(response)
    // Of pipelined requests, only the last response can close the connection.
    const previous = lastResponses.get(socket)
    if (isClosing && previous?.headersSent === false) previous.removeHeader('Connection')
    lastResponses.set(socket, response)
    if (isClosing) response.setHeader('Connection', 'close')
    response.once('close', () => {
      inFlight.delete(response)
      if (lastResponses.get(socket) === response && open.has(socket)) idle.add(socket)
    })
  })

  return {
    open,
    idle,
    inFlight,
    lastResponse: (socket) => lastResponses.get(socket),
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
        const isLast = lastResponses.get(response.req.socket) === response
        if (isLast && !response.headersSent) response.setHeader('Connection', 'close')
      }
    },
  }
}
