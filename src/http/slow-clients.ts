import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { monotonicClock } from '../lib/clock.ts'
import type { CutReason } from '../metrics/http.ts'
import type { Connections } from './connections.ts'
import { peerOf } from './peers.ts'
import { connectionsToCut, connectionsToReplace, type UnreadConnection } from './unread.ts'

export interface SlowClientLimits {
  /** Connections at a time. */
  maxConnections: number
  /** For how long a client may read nothing of an answer that is made, in milliseconds. */
  stallMs: number
  /** Of all answers together that wait for their readers. */
  maxUnreadBytes: number
  /** How often the two above are checked, in milliseconds. */
  lookMs: number
}

interface SlowConnection extends UnreadConnection {
  /** The first of the connection that is not wholly read. */
  response: ServerResponse
  socket: Socket
  isStalled: boolean
}

/** A flood of new connections must leave each of them the time to send its request. */
const IDLE_SHARE = 1 / 16
/** Sorting thousands of connections for each new one would cost more than the flood. */
const REPLACEABLE_MS = 100

/**
 * Closes connections that clients hold without use. At the limit a new connection closes the longest-idle one:
 * Node's `maxConnections` would drop the new one without an answer, so thousands of silent connections would keep
 * every other client out. Where few are idle it closes one with an unread answer (see `connectionsToReplace`).
 * An answer of which nothing is read closes its own connection. One that is read slowly stays, however long it takes,
 * unless its place is needed or unread answers need too much memory (see `connectionsToCut`).
 */
export function cutSlowClients(
  server: Server,
  connections: Connections,
  { maxConnections, stallMs, maxUnreadBytes, lookMs }: SlowClientLimits,
  onCut: (reason: CutReason) => void,
): void {
  const { open, idle, underWay } = connections
  const minIdle = Math.max(1, maxConnections * IDLE_SHARE) // The new one is idle itself.

  server.on('connection', () => {
    if (open.size <= maxConnections) return
    const unread = idle.size > minIdle ? undefined : nextReplaceable()
    // The longest-idle one is at worst the new one itself.
    if (unread === undefined) connections.cutLongestIdle()
    else unread.socket.destroy()
    onCut('too_many')
  })

  /** The first to close is the last. */
  let replaceable: SlowConnection[] = []
  let replaceableSinceMs = -Infinity

  function nextReplaceable(): SlowConnection | undefined {
    const now = monotonicClock()
    if (now - replaceableSinceMs > REPLACEABLE_MS) {
      replaceable = connectionsToReplace(unreadConnections()).reverse()
      replaceableSinceMs = now
    }
    for (let last = replaceable.pop(); last !== undefined; last = replaceable.pop()) {
      if (underWay.has(last.response) && !last.socket.destroyed) return last
    }
    return undefined
  }

  const progress = new WeakMap<ServerResponse, { taken: number; sinceMs: number }>()

  function isStalled(response: ServerResponse, now: number): boolean {
    const taken = takenBytes(response.req.socket)
    const last = progress.get(response)
    if (last?.taken === taken) return now - last.sinceMs > stallMs
    progress.set(response, { taken, sinceMs: now })
    return false
  }

  /** One entry for each connection: several answers to pipelined requests end together. */
  function unreadConnections(): SlowConnection[] {
    const now = monotonicClock()
    const bySocket = new Map<Socket, SlowConnection>()
    for (const response of underWay) {
      const { socket } = response.req
      if (!response.headersSent || socket.destroyed) continue
      const { writableLength: bytes } = response
      const known = bySocket.get(socket)
      if (known === undefined) {
        bySocket.set(socket, {
          response,
          socket,
          bytes,
          isStalled: isStalled(response, now),
          get peer() {
            return peerOf(response)
          },
        })
        continue
      }
      known.bytes += bytes
      known.isStalled ||= isStalled(response, now)
    }
    return [...bySocket.values()]
  }

  function cut({ socket }: SlowConnection, reason: CutReason): void {
    socket.destroy()
    onCut(reason)
  }

  function look(): void {
    replaceable = [] // It would keep closed connections and their answers in memory.
    replaceableSinceMs = -Infinity
    const unread = unreadConnections()
    for (const connection of unread) if (connection.isStalled) cut(connection, 'answer_not_taken')
    const rest = unread.filter((connection) => !connection.isStalled)
    for (const connection of connectionsToCut(rest, maxUnreadBytes)) cut(connection, 'memory')
  }

  server.once('listening', () => {
    const timer = setInterval(look, lookMs).unref()
    server.once('close', () => clearInterval(timer))
  })
}

/**
 * Changes whenever the kernel took bytes of the connection. `bytesWritten` and `writableLength` count a write as a
 * whole, so a page that is one write would show no progress. Node's own socket timeouts read this queue as well; it
 * has no public name.
 */
function takenBytes(socket: Socket): number {
  const { _handle } = socket as Socket & { _handle?: { writeQueueSize?: number } | null }
  return socket.bytesWritten - (_handle?.writeQueueSize ?? 0)
}
