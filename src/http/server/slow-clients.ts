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
  /** The maximum number of open connections. */
  maxConnections: number
  /** How long a client can read nothing of a response, in milliseconds. */
  stallMs: number
  /** The maximum size of all unread responses together. */
  maxUnreadBytes: number
  /** The interval of the checks of the two limits above, in milliseconds. */
  checkIntervalMs: number
}

interface SlowConnection extends UnreadConnection {
  /** The first response of the connection that is not completely read. */
  response: ServerResponse
  socket: Socket
  isStalled: boolean
}

/** Below this share of idle connections, a new one would have no time to send its request. */
const IDLE_SHARE = 1 / 16
/** Sorting thousands of connections for each new one would cost more than the flood. */
const EVICTION_CACHE_MS = 100

/**
 * Closes connections of idle and slow clients. At the limit, evicts the longest-idle connection:
 * Node's `maxConnections` would drop the new one, so silent connections could lock out all clients.
 * With few idle connections, evicts one with an unread response (see `selectToFreeSlots`), else one
 * whose body is not complete. A response that stalls closes its connection. One that progresses
 * slowly stays open, unless its slot is needed or unread responses exceed `maxUnreadBytes` (see
 * `selectToFreeMemory`).
 */
export function closeSlowClients(
  server: Server,
  connections: ConnectionTracker,
  { maxConnections, stallMs, maxUnreadBytes, checkIntervalMs }: SlowClientLimits,
  onClose: (reason: CloseReason) => void,
): void {
  const { open, idle, inFlight } = connections
  const minIdle = Math.max(1, maxConnections * IDLE_SHARE) // The new connection is idle itself.

  server.on('connection', () => {
    if (open.size <= maxConnections) return
    const active = idle.size > minIdle ? undefined : (nextEvictable()?.socket ?? oldestUpload())
    if (active === undefined) connections.closeLongestIdle()
    else active.destroy()
    onClose('too_many')
  })

  /** Returns the connection of the oldest request in flight whose body is not complete. */
  function oldestUpload(): Socket | undefined {
    for (const { req } of inFlight) if (!req.complete && !req.socket.destroyed) return req.socket
    return undefined
  }

  /** In reverse order: the next connection to close is the last element. */
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

  /** Returns one entry per connection: closing it ends all of its pipelined responses. */
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
    evictable = [] // The cache would keep closed connections and their responses in memory.
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
 * Counts the bytes that the kernel has accepted. `bytesWritten` and `writableLength` count a write
 * as a whole, so a page sent in one write would show no progress. Node's socket timeouts read the
 * same private queue.
 */
function countFlushedBytes(socket: Socket): number {
  const { _handle } = socket as Socket & { _handle?: { writeQueueSize?: number } | null }
  return socket.bytesWritten - (_handle?.writeQueueSize ?? 0)
}
