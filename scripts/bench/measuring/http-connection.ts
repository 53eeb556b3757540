import { connect, isIP } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { createResponseReader, type Received } from './http-response.ts'

/** A keep-alive connection that has at most one request in flight. */
export interface HttpConnection {
  /**
   * Sends a serialized request, and waits for the end of the response.
   * @throws Error when the connection fails, closes early or stalls for ten seconds, or when the
   * response has no clear end
   */
  send(request: Buffer): Promise<Received>
  /** Whether it can send another request. */
  isOpen(): boolean
  close(): void
}

const STALLED_MS = 10_000
/** Shared by all connections, since each read of a chunk and its parsing are one step. */
const CHUNK = Buffer.allocUnsafe(256 * 1024)

/** Opens a connection with `node:net`, or `node:tls` for https; `ca` is a PEM. */
export function openHttpConnection(origin: string, ca?: string): HttpConnection {
  const read = createResponseReader()
  let inFlight: PromiseWithResolvers<Received> | undefined
  let failure = new Error('connection closed')
  const socket = openSocket(origin, ca, (chunk) => {
    try {
      const response = read(chunk)
      if (response === undefined) return
      // A server that gives up an idle connection may say so with a response.
      if (response.isLast || inFlight === undefined) socket.destroy()
      inFlight?.resolve(response)
      inFlight = undefined
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  })
  socket.setTimeout(STALLED_MS, () => socket.destroy(new Error('stalled')))
  socket.on('error', (error) => {
    failure = error
  })
  socket.on('close', () => inFlight?.reject(failure))
  return {
    send(request) {
      inFlight = Promise.withResolvers()
      socket.write(request)
      return inFlight.promise
    },
    isOpen: () => socket.writable,
    close: () => void socket.destroy(),
  }
}

/** Opens a socket that reads into one buffer, without the cost of a stream. */
function openSocket(origin: string, ca: string | undefined, receive: (chunk: Buffer) => void) {
  const { protocol, hostname, port } = new URL(origin)
  const isSecure = protocol === 'https:'
  const host = hostname.replace(/^\[(.+)\]$/, '$1')
  const callback = (length: number) => {
    receive(CHUNK.subarray(0, length))
    return true
  }
  const onread = { buffer: CHUNK, callback }
  const to = { host, port: Number(port) || (isSecure ? 443 : 80), noDelay: true, onread }
  if (!isSecure) return connect(to)
  const names = isIP(host) === 0 ? { servername: host } : {}
  const options: ConnectionOptions = { ...to, ...names, ...(ca !== undefined && { ca }) }
  return connectTls(options)
}
