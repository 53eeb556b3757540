import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import {
  verifyWebhook,
  type WebhookEvent,
  WebhookVerificationError,
} from '../../src/client/client.ts'

export interface DemoReceiver {
  url: string
  /** The next events, in the order of their arrival. @throws the reason of the signal */
  next(count: number, signal: AbortSignal): Promise<WebhookEvent[]>
  /** Sets the secret, which exists once the endpoint does. */
  useSecret(secret: string): void
  close(): Promise<void>
}

/**
 * Starts a receiver on the loopback address: it verifies each webhook, responds 204, and passes the
 * event on. A webhook that is not valid gets 400, and reported.
 */
export async function startReceiver(report: (line: string) => void): Promise<DemoReceiver> {
  const received: WebhookEvent[] = []
  const seen = new Set<string>()
  let secret = ''
  const server = createServer(async (request, response) => {
    try {
      const event = await verifyWebhook(await buffer(request), request.headers, secret)
      response.writeHead(204).end()
      if (seen.has(event.id)) return
      seen.add(event.id)
      received.push(event)
      server.emit('event')
    } catch (error) {
      const isRejected = error instanceof WebhookVerificationError
      response.writeHead(isRejected ? 400 : 500).end()
      report(`rejected: ${error instanceof Error ? error.message : error}`)
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    useSecret(given) {
      secret = given
    },
    async next(count, signal) {
      while (received.length < count) await once(server, 'event', { signal })
      return received.splice(0, count)
    },
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}
