import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface ReceivedRequest {
  method: string
  /** Path and query. */
  path: string
  headers: IncomingMessage['headers']
  body: string
  /** Identifies the connection. */
  remotePort: number | undefined
}

/** The behaviour of the server for one request. */
export type Behaviour = (response: ServerResponse, request: ReceivedRequest) => void

/** A scripted server that replaces OpenSearch. */
export interface ScriptedServer {
  readonly url: string
  readonly received: readonly ReceivedRequest[]
  close(): Promise<void>
}

/** Applies one behaviour per request and repeats the last one. */
export async function startServer(behaviours: readonly Behaviour[]): Promise<ScriptedServer> {
  const received: ReceivedRequest[] = []
  async function listener(message: IncomingMessage, response: ServerResponse) {
    const body = (await buffer(message)).toString()
    const { method = '', url: path = '', headers, socket } = message
    const request = { method, path, headers, body, remotePort: socket.remotePort }
    received.push(request)
    behaviours[Math.min(received.length, behaviours.length) - 1]?.(response, request)
  }
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The address of a node that does not exist. */
export async function unreachableUrl(): Promise<string> {
  const server = createTcpServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}

const JSON_TYPE = 'application/json; charset=UTF-8'

export const respond =
  (status: number, body: unknown): Behaviour =>
  (response) => {
    response.writeHead(status, { 'content-type': JSON_TYPE }).end(JSON.stringify(body))
  }

export const respondText =
  (status: number, text: string, type = JSON_TYPE): Behaviour =>
  (response) => {
    response.writeHead(status, { 'content-type': type }).end(text)
  }

/** An error response in the format of OpenSearch. */
export const respondError = (status: number, type: string, reason = `the reason of ${type}`) =>
  respond(status, { error: { root_cause: [{ type, reason }], type, reason }, status })

/** Sends a received request to a node. */
export async function forward(url: string, { method, path, headers, body }: ReceivedRequest) {
  const { 'x-opaque-id': opaqueId, 'content-type': type = JSON_TYPE } = headers
  const answered = await fetch(new URL(path, url), {
    method,
    headers: {
      'content-type': type,
      ...(typeof opaqueId === 'string' && { 'x-opaque-id': opaqueId }),
    },
    ...(body !== '' && { body }),
  })
  return { status: answered.status, text: await answered.text() }
}

/** Forwards a request to a node and responds with its response, whose text it also returns. */
export const proxyTo =
  (url: string) =>
  async (...[response, request]: Parameters<Behaviour>): Promise<string> => {
    const { status, text } = await forward(url, request)
    respondText(status, text)(response, request)
    return text
  }

/** A node executes the request, and its response is lost. */
export const loseResponseOf =
  (url: string) =>
  async (...[response, request]: Parameters<Behaviour>): Promise<void> => {
    await forward(url, request)
    reset(response, request)
  }

export const stall: Behaviour = () => {}

export const stallAfterHeaders: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': JSON_TYPE }).flushHeaders()
}

export const stallInBody: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': JSON_TYPE }).write('{"took":1,"timed_')
}

export const reset: Behaviour = (response) => {
  response.socket?.resetAndDestroy()
}

export const resetInBody: Behaviour = (response) => {
  const { socket } = response
  response.writeHead(200, { 'content-type': JSON_TYPE, 'content-length': 1_000 })
  response.write('{"took":1,"timed_', () => socket?.resetAndDestroy())
}

/** Closes the connection in mid-response, as a stopping node does. */
export const endInBody: Behaviour = (response) => {
  const { socket } = response
  response.writeHead(200, { 'content-type': JSON_TYPE, 'content-length': 1_000 })
  response.write('{"took":1,"timed_', () => socket?.end())
}
