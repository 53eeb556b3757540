import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connectionTrackerOf } from '../../../src/http/server/connection-tracker.ts'
import type { ServerLimits } from '../../../src/http/server/http-server.ts'
import { sourceOrder } from '../orders/source-order.ts'
import { openSocket } from './raw-http.ts'
import { createTestApp, ROOMY } from './test-app.ts'

/** More than the socket buffers hold for a client that reads nothing. */
export const LARGE_PAGE_BYTES = 8 * 2 ** 20

/**
 * The app on a port, with one order of `acc_1`, a key, and clients that control their connections.
 */
export async function serveSlowClients(
  limits: Partial<ServerLimits>,
  env: Record<string, string> = {},
) {
  const app = await createTestApp({ ...ROOMY, ...env }, limits)
  await app.load([sourceOrder()])
  const { key } = await app.issue()
  await app.app.listen({ port: 0 })
  const { port } = app.app.server.address() as AddressInfo
  const opened: Socket[] = []

  return {
    app,
    port,
    get: (path: string, authorization = `Bearer ${key}`) =>
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`,

    async connectMany(count: number): Promise<Socket[]> {
      const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(port)))
      for (const socket of sockets) socket.on('error', () => {})
      opened.push(...sockets)
      return sockets
    },

    async loadLargePage(bytes = LARGE_PAGE_BYTES) {
      const tracking = Object.fromEntries(
        Array.from({ length: 1_000 }, (_, n) => [`key_${n}`, 'x'.repeat(1_000)]),
      )
      const orders = Array.from({ length: bytes / 1_000_000 }, (_, n) =>
        sourceOrder({ id: `ord_large_${n}`, tracking }),
      )
      await app.load(orders)
    },

    lastAnswer: ({ socket }: IncomingMessage) =>
      connectionTrackerOf(app.app.server).lastResponse(socket),

    async cutCount(reason: string) {
      const { values } = await app.metrics.closedConnections.get()
      return values.find(({ labels }) => labels.reason === reason)?.value
    },

    async close() {
      for (const socket of opened) socket.destroy()
      await app.close()
    },
  }
}

export type SlowClients = Awaited<ReturnType<typeof serveSlowClients>>
