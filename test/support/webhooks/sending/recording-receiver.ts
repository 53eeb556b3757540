import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A webhook as its receiver got it. */
export interface ReceivedWebhook {
  path: string
  headers: IncomingMessage['headers']
  /** The raw body. */
  bytes: Buffer
  body: {
    id: string
    type: string
    order_id: string | null
    sequence: number | null
    [key: string]: unknown
  }
}

/** `null` never responds. */
export type Reply = { status: number; headers?: Record<string, string>; delayMs?: number } | null

/** A receiver on the loopback interface. */
export interface RecordingReceiver {
  /** The URL of an endpoint with this path. */
  url(path?: string): string
  received: ReceivedWebhook[]
  /** Chooses each response; 200 unless replaced. A promise sends it when it resolves. */
  reply(webhook: ReceivedWebhook): Reply | Promise<Reply>
  /** Requests without a response now, and the most at one time. */
  open: { current: number; most: number }
  close(): Promise<void>
}

/** Starts a receiver that records every request. */
export async function startRecordingReceiver(): Promise<RecordingReceiver> {
  const receiver: RecordingReceiver = {
    url: (path = '/hooks') => `http://127.0.0.1:${port}${path}`,
    received: [],
    reply: () => ({ status: 200 }),
    open: { current: 0, most: 0 },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  const server = createServer((request, response) => {
    receiver.open.current += 1
    receiver.open.most = Math.max(receiver.open.most, receiver.open.current)
    response.once('close', () => {
      receiver.open.current -= 1
    })
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const bytes = Buffer.concat(chunks)
      const body = JSON.parse(bytes.toString())
      const webhook = { path: request.url ?? '', headers: request.headers, bytes, body }
      receiver.received.push(webhook)
      respond(response, await receiver.reply(webhook))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return receiver
}

function respond(response: ServerResponse, reply: Reply): void {
  if (reply === null) return
  const { status, headers = {}, delayMs } = reply
  const end = () => response.writeHead(status, headers).end()
  if (delayMs === undefined) end()
  else setTimeout(end, delayMs)
}
