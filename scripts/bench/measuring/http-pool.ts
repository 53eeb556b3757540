import { type HttpConnection, openHttpConnection } from './http-connection.ts'
import type { Received } from './http-response.ts'

/** The parts of a request that are sent. */
export interface PlainRequest {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: Buffer
}

/** Connections to one origin, opened as necessary and kept. */
export interface HttpPool {
  /**
   * Sends a request on a free connection, and waits for one where all are in use.
   * @throws Error as {@link HttpConnection.send}
   */
  send(request: PlainRequest): Promise<Received>
  close(): void
}

/**
 * A pool of at most `size` connections, for the bench's own load: its client shares the CPUs with
 * what it measures. Each request is serialized once, since the bench sends it repeatedly.
 */
export function createHttpPool(origin: string, size: number, ca?: string): HttpPool {
  const { host } = new URL(origin)
  const serialized = new WeakMap<PlainRequest, Buffer>()
  const connections = new Set<HttpConnection>()
  const idle: HttpConnection[] = []
  const waiting: (() => void)[] = []
  let free = size

  function bytesOf(request: PlainRequest): Buffer {
    const known = serialized.get(request)
    if (known) return known
    const bytes = serialize(request, host)
    serialized.set(request, bytes)
    return bytes
  }

  function take(): HttpConnection {
    const last = idle.pop()
    if (last?.isOpen()) return last
    if (last) connections.delete(last)
    const opened = openHttpConnection(origin, ca)
    connections.add(opened)
    return opened
  }

  function release(connection: HttpConnection): void {
    if (connection.isOpen()) idle.push(connection)
    else connections.delete(connection)
    const next = waiting.shift()
    if (next) next()
    else free += 1
  }

  return {
    async send(request) {
      if (free > 0) free -= 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      const connection = take()
      try {
        return await connection.send(bytesOf(request))
      } finally {
        release(connection)
      }
    },

    close() {
      for (const connection of connections) connection.close()
    },
  }
}

function serialize({ method, path, headers, body }: PlainRequest, host: string): Buffer {
  const length = body || method === 'POST' ? { 'content-length': `${body?.length ?? 0}` } : {}
  const fields = Object.entries({ host, ...headers, ...length })
  const lines = [
    `${method} ${path} HTTP/1.1`,
    ...fields.map(([name, value]) => `${name}: ${value}`),
  ]
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  return body ? Buffer.concat([head, body]) : head
}
