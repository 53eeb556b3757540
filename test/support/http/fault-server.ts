import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A response that the fault server sends in place of the service's. */
export interface ServerResponseStub {
  status: number
  headers?: Readonly<Record<string, string | string[]>>
  body?: string
}

/**
 * `cut`: half of the service's response, then a disconnect. `reset`: a connection reset without a
 * response. `silence`: no response, on an open connection. A function transforms the service's
 * response.
 */
export type Fault =
  | ServerResponseStub
  | 'cut'
  | 'reset'
  | 'silence'
  | ((response: ServerResponseStub) => ServerResponseStub)

/** A request of a client and its outcome: a status and a body, or what became of its connection. */
export interface RecordedRequest {
  url: URL
  headers: IncomingMessage['headers']
  outcome: number | 'cut' | 'reset' | 'silence'
  body?: string | undefined
}

/** Chooses the fault of a request; `undefined` passes the request on unchanged. */
export type ChooseFault = (url: URL) => Promise<Fault | undefined> | Fault | undefined

/**
 * A reverse proxy before a service on the loopback address. It records every request and applies
 * the faults that `chooseFault` returns.
 */
export async function startFaultServer(
  serviceUrl: string,
  chooseFault: ChooseFault = () => undefined,
) {
  const requests: RecordedRequest[] = []
  const planned: (Fault | undefined)[] = []

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', serviceUrl)
    const recorded: RecordedRequest = { url, headers: incoming.headers, outcome: 'reset' }
    const fault = planned.length > 0 ? planned.shift() : await chooseFault(url)
    requests.push(recorded)
    if (fault === 'reset') {
      incoming.socket.resetAndDestroy()
      return
    }
    if (fault === 'silence') {
      recorded.outcome = 'silence'
      return
    }
    const isStub = typeof fault === 'object'
    const response = isStub ? fault : await forward(url, incoming.headers)
    if (fault === 'cut') {
      recorded.outcome = 'cut'
      cut(outgoing, response)
      return
    }
    const { status, headers, body } = typeof fault === 'function' ? fault(response) : response
    Object.assign(recorded, { outcome: status, body })
    // Node would send the body in chunks, and the service sends its length.
    const length = body === undefined ? {} : { 'content-length': `${Buffer.byteLength(body)}` }
    outgoing.writeHead(status, { ...headers, ...length }).end(body)
  }

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The requests since the last call of `forget`. */
    requests,

    /**
     * Plans the faults of the next requests, in order, in place of those of `chooseFault`.
     * `undefined`: no fault.
     */
    plan(...faults: (Fault | undefined)[]) {
      planned.push(...faults)
    },

    /** Clears the recorded requests and the planned faults. */
    forget() {
      requests.length = 0
      planned.length = 0
    },

    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export type FaultServer = Awaited<ReturnType<typeof startFaultServer>>

function cut(outgoing: ServerResponse, { status, headers, body = '' }: ServerResponseStub): void {
  outgoing.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) })
  outgoing.write(body.slice(0, body.length / 2), () => outgoing.destroy())
}

/** Sends a GET and returns the whole response, without the headers of its transfer. */
export async function forward(
  url: URL,
  { host: _, ...headers }: IncomingMessage['headers'],
): Promise<ServerResponseStub> {
  const sent = request(url, { headers }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const { connection, 'transfer-encoding': __, 'content-length': ___, ...rest } = response.headers
  return {
    status: response.statusCode ?? 0,
    headers: rest as Record<string, string>,
    body: await text(response),
  }
}
