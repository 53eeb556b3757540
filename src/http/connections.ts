import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Which connections a server has, and what each of them waits for. */
export interface Connections {
  readonly open: ReadonlySet<Socket>
  /** Without a request under way. */
  readonly idle: ReadonlySet<Socket>
  /** Cuts the idle one that has rested longest. */
  cutLongestIdle(): void
  /** Answers that are not wholly taken, the oldest request's first. */
  readonly underWay: ReadonlySet<ServerResponse>
  /** The answer to the last request of a connection. */
  lastOf(socket: Socket): ServerResponse | undefined
  /** How many connections and requests have come so far. */
  comings(): number
  /** From now on an answer is the last of its connection, and says so. */
  closeAfterAnswers(): void
}

const known = new WeakMap<Server, Connections>()

/** The connections of a server, from when this is first asked; the same ones whoever asks. */
export function connectionsOf(server: Server): Connections {
  const connections = known.get(server) ?? track(server)
  known.set(server, connections)
  return connections
}

function track(server: Server): Connections {
  const open = new Set<Socket>()
  const idle = new Set<Socket>()
  const underWay = new Set<ServerResponse>()
  const last = new WeakMap<Socket, ServerResponse>()
  let comings = 0
  let isClosing = false

  server.on('connection', (socket: Socket) => {
    comings += 1
    open.add(socket)
    idle.add(socket)
    socket.once('close', () => {
      open.delete(socket)
      idle.delete(socket)
      // Of a socket that Node has let go of, no answer is told. They end in their order: the last one tells of all.
      const answer = last.get(socket)
      if (answer === undefined || !underWay.has(answer)) return
      for (const response of underWay) if (response.req.socket === socket) underWay.delete(response)
    })
  })

  // First, while its answer can still be changed.
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    comings += 1
    idle.delete(socket)
    underWay.add(response)
    // Of requests sent one behind the other only the last one's answer may end the connection.
    const before = last.get(socket)
    if (isClosing && before?.headersSent === false) before.removeHeader('Connection')
    last.set(socket, response)
    if (isClosing) response.setHeader('Connection', 'close')
    response.once('close', () => {
      underWay.delete(response)
      if (last.get(socket) === response && open.has(socket)) idle.add(socket)
    })
  })

  return {
    open,
    idle,
    underWay,
    lastOf: (socket) => last.get(socket),
    comings: () => comings,

    cutLongestIdle() {
      const [longest] = idle // In the order in which they came to rest.
      if (longest === undefined) return
      idle.delete(longest)
      longest.destroy()
    },

    closeAfterAnswers() {
      isClosing = true
      for (const response of underWay) {
        const isLast = last.get(response.req.socket) === response
        if (isLast && !response.headersSent) response.setHeader('Connection', 'close')
      }
    },
  }
}
