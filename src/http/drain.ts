import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import fp from 'fastify-plugin'

/** How long a client that has sent half a request may take for the rest once the service closes. */
const HALF_SENT_MS = 2_000

/**
 * Closing waits for every connection, and Node lets go only of those that have had an answer: one that
 * never sent anything, as balancers keep, would hold the service until it is killed.
 */
export default fp(
  async (app) => {
    const open = new Set<Socket>()
    const answering = new Map<Socket, ServerResponse>()

    app.server.on('connection', (socket: Socket) => {
      open.add(socket)
      socket.once('close', () => open.delete(socket))
    })
    app.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      answering.set(socket, response)
      // Of requests sent one behind the other, the last one's answer is the end.
      response.once('close', () => {
        if (answering.get(socket) === response) answering.delete(socket)
      })
    })
    app.addHook('preClose', async () => {
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
      setTimeout(() => {
        for (const socket of open.difference(answering)) socket.destroy()
      }, HALF_SENT_MS).unref()
    })
  },
  { name: 'drain' },
)
