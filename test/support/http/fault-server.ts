import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** What somebody before the service answers in its place. */
export interface ServerResponseStub {
  status: number
  headers?: Readonly<Record<string, string | string[]>>
  body?: string
}

/** `cut`: half of the service's answer, then nothing. `reset`: not even that. A function: the service's answer, changed. */
export type Fault =
  | ServerResponseStub
  | 'cut'
  | 'reset'
  | ((answer: ServerResponseStub) => ServerResponseStub)

/** What a client asked, and what it got: a status and a body, or how its connection ended. */
export interface RecordedRequest {
  url: URL
  headers: IncomingMessage['headers']
  got: number | 'cut' | 'reset'
  body?: string | undefined
}

/** What happens to a request; nothing unless it says so. */
export type ChooseFault = (url: URL) => Promise<Fault | undefined> | Fault | undefined

/** Stands before a service on the loopback address, tells what was asked, and has happen what `decide` says. */
export async function startFaultServer(serviceUrl: string, decide: ChooseFault = () => undefined) {
  const asked: RecordedRequest[] = []
  const planned: (Fault | undefined)[] = []

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', serviceUrl)
    const seen: RecordedRequest = { url, headers: incoming.headers, got: 'reset' }
    const happening = planned.length > 0 ? planned.shift() : await decide(url)
    asked.push(seen)
    if (happening === 'reset') {
      incoming.socket.resetAndDestroy()
      return
    }
    const isInPlace = typeof happening === 'object'
    const answer = isInPlace ? happening : await ask(url, incoming.headers)
    if (happening === 'cut') {
      seen.got = 'cut'
      cut(outgoing, answer)
      return
    }
    const { status, headers, body } = typeof happening === 'function' ? happening(answer) : answer
    Object.assign(seen, { got: status, body })
    // As the service tells it; a client may make much of an answer without it.
    const length = body === undefined ? {} : { 'content-length': `${Buffer.byteLength(body)}` }
    outgoing.writeHead(status, { ...headers, ...length }).end(body)
  }

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Everything asked since it was last forgotten. */
    asked,

    /** What happens to the next requests, one after the other, whatever `decide` says; `undefined`: nothing. */
    plan(...happenings: (Fault | undefined)[]) {
      planned.push(...happenings)
    },

    /** From here on is told, and nothing is planned. */
    forget() {
      asked.length = 0
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

async function ask(
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
