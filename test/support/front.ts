import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** What somebody before the service answers in its place. */
export interface Answer {
  status: number
  headers?: Readonly<Record<string, string | string[]>>
  body?: string
}

/** `cut`: half of the service's answer, then nothing. `reset`: not even that. */
export type Happening = Answer | 'cut' | 'reset' | ((answer: Answer) => Answer)

/** What a client asked, and what it got: a status, or how its connection ended. */
export interface Asked {
  url: URL
  headers: IncomingMessage['headers']
  got: number | 'cut' | 'reset'
}

/** Stands before a service on the loopback address; to the next requests happens what it is told. */
export async function startFront(serviceUrl: string) {
  const asked: Asked[] = []
  const planned: (Happening | null)[] = []

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', serviceUrl)
    const seen: Asked = { url, headers: incoming.headers, got: 'reset' }
    asked.push(seen)
    const happening = planned.shift() ?? null
    if (happening === 'reset') {
      incoming.socket.resetAndDestroy()
      return
    }
    if (happening === null || typeof happening !== 'object') {
      const answer = await ask(url, incoming.headers)
      if (happening === 'cut') {
        seen.got = 'cut'
        cut(outgoing, answer)
        return
      }
      send(seen, outgoing, happening === null ? answer : happening(answer))
      return
    }
    send(seen, outgoing, happening)
  }

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,

    /** What happens to the next requests, one after the other; `null`: nothing. */
    plan(...happenings: (Happening | null)[]) {
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

export type Front = Awaited<ReturnType<typeof startFront>>

function send(seen: Asked, outgoing: ServerResponse, { status, headers, body }: Answer): void {
  seen.got = status
  outgoing.writeHead(status, headers).end(body)
}

function cut(outgoing: ServerResponse, { status, headers, body = '' }: Answer): void {
  outgoing.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) })
  outgoing.write(body.slice(0, body.length / 2), () => outgoing.destroy())
}

async function ask(url: URL, { host: _, ...headers }: IncomingMessage['headers']): Promise<Answer> {
  const sent = request(url, { headers }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const { connection, 'transfer-encoding': __, 'content-length': ___, ...rest } = response.headers
  return {
    status: response.statusCode ?? 0,
    headers: rest as Record<string, string>,
    body: await text(response),
  }
}
