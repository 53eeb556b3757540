import { connect, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls, TLSSocket } from 'node:tls'
import { MINUTE_MS } from '../durations.ts'
import type { CreateSink } from './body-sink.ts'
import type { SerializedRequest } from './request.ts'
import { createResponseReader, type HttpResponse } from './response-reader.ts'

/** Where a connection leads. */
export interface HttpTarget {
  /** `http` or `https`, host and port. */
  origin: string
  /** PEM of the authority that signed the certificate; the system's own when absent. */
  ca?: string | undefined
  /** The time to open a connection, with its TLS handshake, in milliseconds; 10 s when absent. */
  connectTimeoutMs?: number
}

/** Called once: with the response, or with the error that closed the connection. */
export type OnResponse<Body> = (error: Error | null, response?: HttpResponse<Body>) => void

/** A keep-alive connection that has at most one request in flight. */
export interface HttpConnection<Body> {
  send(request: SerializedRequest, onResponse: OnResponse<Body>): void
  /** Whether it can send another request. */
  isOpen(): boolean
  /** Closes it. A request in flight fails. */
  destroy(): void
}

const CONNECT_TIMEOUT_MS = 10_000
/** So that no router drops a connection whose response takes minutes. */
const KEEP_ALIVE_PROBE_MS = MINUTE_MS
/** Shared by all connections, since each read and its parsing are one step. */
const READ_BUFFER = Buffer.allocUnsafeSlow(256 * 1024)

/** Opens a connection. An idle one does not keep the process alive. */
export function openHttpConnection<Body>(
  target: HttpTarget,
  createSink: CreateSink<Body>,
): HttpConnection<Body> {
  const read = createResponseReader(createSink)
  let inFlight: OnResponse<Body> | undefined
  let failure = new Error('the connection closed before the end of the response')

  function receive(bytes: Buffer): void {
    // Such as a 408 for the idle connection, which the next request must not take for its own.
    if (inFlight === undefined) throw new Error('the server sent bytes without a request')
    const response = read(bytes)
    if (response === undefined) return
    // The server may respond before it has read the whole request, whose rest would follow.
    if (response.isLast || socket.writableLength > 0) socket.destroy()
    const onResponse = inFlight
    inFlight = undefined
    socket.unref()
    onResponse(null, response)
  }

  const socket = openSocket(target, (bytes) => {
    try {
      receive(bytes)
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  })
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS } = target
  socket.setTimeout(connectTimeoutMs, () => {
    socket.destroy(new Error(`no connection in ${connectTimeoutMs} ms`))
  })
  const opened = socket instanceof TLSSocket ? 'secureConnect' : 'connect'
  socket.once(opened, () => socket.setTimeout(0))
  socket.on('error', (error) => {
    failure = error
  })
  socket.on('close', () => {
    inFlight?.(failure)
    inFlight = undefined
  })
  return {
    send(request, onResponse) {
      inFlight = onResponse
      socket.ref()
      socket.cork() // One system call for all pieces.
      for (const piece of request) socket.write(piece)
      socket.uncork()
    },
    isOpen: () => socket.writable,
    destroy: () => void socket.destroy(),
  }
}

/** Opens a socket that reads into one buffer. A stream would allocate one for each read. */
function openSocket({ origin, ca }: HttpTarget, receive: (bytes: Buffer) => void): Socket {
  const { protocol, hostname, port } = new URL(origin)
  const isSecure = protocol === 'https:'
  const host = hostname.replace(/^\[(.+)\]$/, '$1')
  const callback = (length: number) => {
    receive(READ_BUFFER.subarray(0, length))
    return true
  }
  const onread = { buffer: READ_BUFFER, callback }
  const to = {
    host,
    port: Number(port) || (isSecure ? 443 : 80),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
    onread,
  }
  if (!isSecure) return connect(to)
  const names = isIP(host) === 0 ? { servername: host } : {}
  const options: ConnectionOptions = { ...to, ...names, ...(ca !== undefined && { ca }) }
  return connectTls(options)
}
