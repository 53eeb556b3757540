import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { monotonicClock } from '../../lib/clock.ts'
import type { ConnectionTracker } from './connection-tracker.ts'
import { selectToFreeMemory, selectToFreeSlots, type UnreadConnection } from './eviction-policy.ts'
import { peerOf } from './peers.ts'

export const CLOSE_REASONS = ['too_many', 'answer_not_taken', 'memory'] as const
/** Why a connection is closed: too many, a response that is not read, or too much unread memory. */
export type CloseReason = (typeof CLOSE_REASONS)[number]

export interface SlowClientLimits {
  /** Connections at a time. */
  maxConnections: number
  /** For how long a client may read nothing of an answer that is made, in milliseconds. */
  stallMs: number
  /** Of all answers together that wait for their readers. */
  maxUnreadBytes: number
  /** How often the two above are checked, in milliseconds. */
  checkIntervalMs: number
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
const EVICTION_CACHE_MS = 100

/**
 * Closes connections that clients hold without use. At the limit a new connection closes the longest-idle one:
 * Node's `maxConnections` would drop the new one without an answer, so thousands of silent connections would keep
 * every other client out. Where few are idle it closes one with an unread answer (see `connectionsToReplace`).
 * An answer of which nothing is read closes its own connection. One that is read slowly stays, however long it takes,
 * unless its place is needed or unread answers need too much memory (see `connectionsToCut`).
 */
export function closeSlowClients(
  server: Server,
  connections: ConnectionTracker,
  { maxConnections, stallMs, maxUnreadBytes, checkIntervalMs }: SlowClientLimits,
  onClose: (reason: CloseReason) => void,
): void {
  const { open, idle, inFlight } = connections
  const minIdle = Math.max(1, maxConnections * IDLE_SHARE) // The new one is idle itself.

  server.on('connection', () => {
    if (open.size <= maxConnections) return
    const unread = idle.size > minIdle ? undefined : nextEvictable()
    // The longest-idle one is at worst the new one itself.
    if (unread === undefined) connections.closeLongestIdle()
    else unread.socket.destroy()
    onClose('too_many')
  })

  /** The first to close is the last. */
  let evictable: SlowConnection[] = []
  let evictableSinceMs = -Infinity

  function nextEvictable(): SlowConnection | undefined {
    const now = monotonicClock()
    if (now - evictableSinceMs > EVICTION_CACHE_MS) {
      evictable = selectToFreeSlots(unreadConnections()).reverse()
      evictableSinceMs = now
    }
    for (let candidate = evictable.pop(); candidate !== undefined; candidate = evictable.pop()) {
      if (inFlight.has(candidate.response) && !candidate.socket.destroyed) return candidate
    }
    return undefined
  }

  const progress = new WeakMap<ServerResponse, { flushedBytes: number; sinceMs: number }>()

  function isStalled(response: ServerResponse, now: number): boolean {
    const flushedBytes = countFlushedBytes(response.req.socket)
    const previous = progress.get(response)
    if (previous?.flushedBytes === flushedBytes) return now - previous.sinceMs > stallMs
    progress.set(response, { flushedBytes, sinceMs: now })
    return false
  }

  /** One entry for each connection: several answers to pipelined requests end together. */
  function unreadConnections(): SlowConnection[] {
    const now = monotonicClock()
    const bySocket = new Map<Socket, SlowConnection>()
    for (const response of inFlight) {
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

  function close({ socket }: SlowConnection, reason: CloseReason): void {
    socket.destroy()
    onClose(reason)
  }

  function check(): void {
    evictable = [] // It would keep closed connections and their answers in memory.
    evictableSinceMs = -Infinity
    const unread = unreadConnections()
    for (const connection of unread) if (connection.isStalled) close(connection, 'answer_not_taken')
    const rest = unread.filter((connection) => !connection.isStalled)
    for (const connection of selectToFreeMemory(rest, maxUnreadBytes)) close(connection, 'memory')
  }

  server.once('listening', () => {
    const timer = setInterval(check, checkIntervalMs).unref()
    server.once('close', () => clearInterval(timer))
  })
}

/**
 * Changes whenever the kernel took bytes of the connection. `bytesWritten` and `writableLength` count a write as a
 * whole, so a page that is one write would show no progress. Node's own socket timeouts read this queue as well; it
 * has no public name.
 */
function countFlushedBytes(socket: Socket): number {
  const { _handle } = socket as Socket & { _handle?: { writeQueueSize?: number } | null }
  return socket.bytesWritten - (_handle?.writeQueueSize ?? 0)
}
