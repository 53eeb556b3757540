import type { Server, ServerResponse } from 'node:http'
import { monotonicClock } from '../lib/clock.ts'
import type { CutReason } from '../metrics/http.ts'
import type { Connections } from './connections.ts'

export interface SlowClientLimits {
  /** Connections at a time. */
  maxConnections: number
  /** To take an answer that is made, in milliseconds. */
  answerMs: number
  /** Of all answers together that wait for their readers. */
  maxUnreadBytes: number
  /** How often the two above are looked after, in milliseconds. */
  lookMs: number
}

/**
 * Cuts the connections of those who hold them without use. One more than there may be costs the one that has
 * rested longest: Node's `maxConnections` would drop the new one without a word, and whoever opens thousands
 * and sends nothing would keep everybody else out. An answer that is not taken costs its own connection.
 */
export function cutSlowClients(
  server: Server,
  connections: Connections,
  { maxConnections, answerMs, maxUnreadBytes, lookMs }: SlowClientLimits,
  onCut: (reason: CutReason) => void,
): void {
  const { open, underWay } = connections

  server.on('connection', () => {
    if (open.size <= maxConnections) return
    connections.cutLongestIdle() // At worst the new one itself.
    onCut('too_many')
  })

  const seenMs = new WeakMap<ServerResponse, number>()

  function look(): void {
    const now = monotonicClock()
    const made = [...underWay].filter(({ writableEnded }) => writableEnded)
    let bytes = made.reduce((sum, { writableLength }) => sum + writableLength, 0)
    for (const response of made) {
      const sinceMs = seenMs.get(response) ?? now
      seenMs.set(response, sinceMs)
      const isLate = now - sinceMs > answerMs
      const isTooMuch = bytes > maxUnreadBytes
      if (!isLate && !isTooMuch) continue
      bytes -= response.writableLength
      if (response.req.socket.destroyed) continue // There may be more than one answer to a connection.
      response.req.socket.destroy()
      onCut(isLate ? 'answer_not_taken' : 'memory')
    }
  }

  server.once('listening', () => {
    const timer = setInterval(look, lookMs).unref()
    server.once('close', () => clearInterval(timer))
  })
}
