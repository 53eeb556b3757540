import { type Clock, monotonicClock } from '../clock.ts'
import type { CreateSink } from './body-sink.ts'
import { type HttpConnection, type HttpTarget, openHttpConnection } from './connection.ts'
import type { SerializedRequest } from './request.ts'
import type { HttpResponse } from './response-reader.ts'

export interface HttpPoolOptions<Body> extends HttpTarget {
  /** The most connections at a time. */
  size: number
  createSink: CreateSink<Body>
  /** Monotonic milliseconds. */
  clock?: Clock
}

/** Keep-alive connections to one origin, opened as necessary. */
export interface HttpPool<Body> {
  /** Sends a request on a free connection, or waits for one where all are in use. */
  send(request: SerializedRequest): PendingResponse<Body>
  /** Closes the connections, and ends all requests with an error, later ones too. */
  close(): void
}

export interface PendingResponse<Body> {
  /**
   * @throws Error when the connection fails or closes early, when the response is invalid, or the
   * error of `abort`
   */
  readonly response: Promise<HttpResponse<Body>>
  /** Ends the request with this error and closes its connection; no effect after the response. */
  abort(error: Error): void
}

interface IdleConnection<Body> {
  connection: HttpConnection<Body>
  since: number
}

/** Less than most proxies wait before they close an idle connection. */
const MAX_IDLE_MS = 4_000

/** Creates a pool, which opens no connection yet. */
export function createHttpPool<Body>(options: HttpPoolOptions<Body>): HttpPool<Body> {
  const { size, createSink, clock = monotonicClock } = options
  const connections = new Set<HttpConnection<Body>>()
  /** The one that was used last is at the end. */
  const idle: IdleConnection<Body>[] = []
  const waiting = new Set<{ start(): void; abort(error: Error): void }>()
  let inUse = 0
  let isClosed = false
  /** Runs while connections are idle. */
  let sweep: NodeJS.Timeout | undefined

  function isUsable({ connection, since }: IdleConnection<Body>): boolean {
    return connection.isOpen() && clock() - since <= MAX_IDLE_MS
  }

  function dropUnusable(): void {
    const usable = idle.findIndex(isUsable)
    const unusable = idle.splice(0, usable < 0 ? idle.length : usable)
    for (const { connection } of unusable) drop(connection)
    sweep = idle.length > 0 ? setTimeout(dropUnusable, MAX_IDLE_MS).unref() : undefined
  }

  function drop(connection: HttpConnection<Body>): void {
    connections.delete(connection)
    connection.destroy()
  }

  function take(): HttpConnection<Body> {
    inUse += 1
    for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
      if (isUsable(last)) return last.connection
      drop(last.connection)
    }
    const connection = openHttpConnection(options, createSink)
    connections.add(connection)
    return connection
  }

  function release(connection: HttpConnection<Body>): void {
    inUse -= 1
    if (connection.isOpen()) {
      idle.push({ connection, since: clock() })
      sweep ??= setTimeout(dropUnusable, MAX_IDLE_MS).unref()
    } else {
      drop(connection)
    }
    const [next] = waiting
    if (next === undefined) return
    waiting.delete(next)
    next.start()
  }

  return {
    send(request) {
      const { promise, resolve, reject } = Promise.withResolvers<HttpResponse<Body>>()
      let used: HttpConnection<Body> | undefined

      const pending = {
        response: promise,
        start() {
          const connection = take()
          used = connection
          connection.send(request, (error, response) => {
            used = undefined // From here on it belongs to the next request.
            if (response === undefined) reject(error)
            else resolve(response)
            release(connection)
          })
        },
        abort(error: Error) {
          waiting.delete(pending)
          reject(error)
          used?.destroy()
        },
      }
      if (isClosed) reject(poolClosed())
      else if (inUse < size) pending.start()
      else waiting.add(pending)
      return pending
    },

    close() {
      isClosed = true
      clearTimeout(sweep)
      for (const pending of waiting) pending.abort(poolClosed())
      for (const connection of connections) connection.destroy()
    },
  }
}

function poolClosed(): Error {
  return new Error('the pool of connections is closed')
}
