import fp from 'fastify-plugin'
import { connectionsOf } from './connections.ts'

/** How long a client that has not sent anything yet may take to begin, once the service closes. */
const BEGIN_MS = 500
/** The same for the rest of a request, for a client that has sent half of it. */
const HALF_SENT_MS = 2_000
/** The same for reading an answer that was made after that. */
const READ_MS = 5_000

/**
 * Closing waits for every connection, and Node lets go only of those that have had an answer: one that
 * never sent anything, as balancers keep, would hold the service until it is killed.
 */
export default fp(
  async (app) => {
    const { open, idle, underWay } = connectionsOf(app.server)

    app.addHook('preClose', async () => {
      setTimeout(() => {
        for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
      }, BEGIN_MS).unref()
      setTimeout(() => {
        for (const socket of idle) socket.destroy()
      }, HALF_SENT_MS).unref()
      setTimeout(() => {
        for (const { req, headersSent } of underWay) if (headersSent) req.socket.destroy()
      }, READ_MS).unref()
    })
  },
  { name: 'drain' },
)
