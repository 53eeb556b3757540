import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import type { Certificate } from '../../../harness/services/certificate.ts'

export interface ReceivedRequest {
  /** The request line and the headers. */
  head: string
  body: string
  /** The name that the client requested by SNI, over TLS. */
  servername: string | false | null | undefined
}

/** Sends a response, or does something else with the connection. */
export type Responder = (socket: Socket, request: ReceivedRequest) => void

/** A complete response with these headers. */
export function response(status: number, headers: Record<string, string> = {}, body = ''): string {
  const lines = Object.entries({ 'content-length': `${Buffer.byteLength(body)}`, ...headers })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `HTTP/1.1 ${status} Status\r\n${head}\r\n${body}`
}

/** Responds with a text. */
export const reply =
  (text: string): Responder =>
  (socket) => {
    socket.write(text)
  }

/** Writes a text again and again until the connection closes. */
export function repeat(socket: Socket, text: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(text), everyMs)
  socket.on('close', () => clearInterval(timer))
}

export interface ReceiverOptions {
  /** Speaks TLS. */
  certificate?: Certificate
  /** Default: `127.0.0.1`. */
  host?: string
  /** Default: a free one. */
  port?: number
}

/**
 * A receiver of webhooks on a loopback address that does with each request what `answer` does.
 * It speaks HTTP as raw text, so it can break the protocol.
 */
export async function startReceiver(
  answer: Responder,
  { certificate, host = '127.0.0.1', port: wantedPort = 0 }: ReceiverOptions = {},
) {
  const requests: ReceivedRequest[] = []
  const sockets = new Set<Socket>()
  let connections = 0

  function accept(socket: Socket): void {
    let pending = ''
    socket.on('error', () => {})
    socket.setEncoding('latin1')
    socket.on('data', (text) => {
      pending += text
      const request = parseRequest(pending)
      if (request === null) return
      pending = ''
      const received = { ...request, servername: (socket as TLSSocket).servername }
      requests.push(received)
      answer(socket, received)
    })
  }

  const server = certificate ? createTlsServer(certificate, accept) : createServer(accept)
  server.on('tlsClientError', () => {}) // The sender reports it.
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await once(server.listen(wantedPort, host), 'listening')
  const { port } = server.address() as AddressInfo

  return {
    port,
    requests,
    url: `${certificate ? 'https' : 'http'}://${host}:${port}/webhooks`,
    /** Accepted TCP connections, also those without a request. */
    get connections() {
      return connections
    },
    get openConnections() {
      return sockets.size
    },
    /** Closes the connections, and accepts new ones. */
    disconnect() {
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** Requires `content-length`, as the sender sends it. */
function parseRequest(text: string): Omit<ReceivedRequest, 'servername'> | null {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return null
  const head = text.slice(0, end)
  const body = text.slice(end + 4)
  const [, length = '0'] = /^content-length: (\d+)$/im.exec(head) ?? []
  return body.length < Number(length) ? null : { head, body }
}
