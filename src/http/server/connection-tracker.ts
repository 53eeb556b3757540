import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Which connections a server has, and what each of them waits for. */
export interface ConnectionTracker {
  readonly open: ReadonlySet<Socket>
  /** Without a request under way. */
  readonly idle: ReadonlySet<Socket>
  /** Cuts the idle one that has rested longest. */
  closeLongestIdle(): void
  /** Answers that are not wholly taken, the oldest request's first. */
  readonly inFlight: ReadonlySet<ServerResponse>
  /** The answer to the last request of a connection. */
  lastResponse(socket: Socket): ServerResponse | undefined
  /** How many connections and requests have come so far. */
  acceptedCount(): number
  /** From now on an answer is the last of its connection, and says so. */
  closeAfterResponses(): void
}

const trackers = new WeakMap<Server, ConnectionTracker>()

/** The connections of a server, from when this is first asked; the same ones whoever asks. */
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
      // Of a socket that Node has let go of, no answer is told. They end in their order: the last one tells of all.
      const lastResponse = lastResponses.get(socket)
      if (lastResponse === undefined || !inFlight.has(lastResponse)) return
      for (const response of inFlight) if (response.req.socket === socket) inFlight.delete(response)
    })
  })

  // First, while its answer can still be changed.
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    acceptedCount += 1
    idle.delete(socket)
    inFlight.add(response)
    // Of requests sent one behind the other only the last one's answer may end the connection.
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
      const [longestIdle] = idle // In the order in which they came to rest.
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
