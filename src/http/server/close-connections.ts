import fp from 'fastify-plugin'
import { connectionTrackerOf } from './connection-tracker.ts'

/** After the drain: how long a client that has sent nothing can take to start its request. */
const FIRST_BYTE_TIMEOUT_MS = 500
/** After the drain: how long a client can take to complete a request. */
const REQUEST_TIMEOUT_MS = 2_000
/** After the drain: how long a client can take to read a response. */
const RESPONSE_TIMEOUT_MS = 5_000

/**
 * The second phase of a shutdown: `close()` waits for every connection, and Node closes only those
 * that have received a response. A preconnected socket of a load balancer would block it until
 * SIGKILL.
 */
export default fp(
  async (app) => {
    const { open, idle, inFlight, closeAfterResponses } = connectionTrackerOf(app.server)

    app.addHook('preClose', async () => {
      closeAfterResponses() // Fastify does so for later requests only.
      setTimeout(() => {
        for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
      }, FIRST_BYTE_TIMEOUT_MS).unref()
      setTimeout(() => {
        for (const socket of idle) socket.destroy()
        // Its response is in flight, and waits for the rest of the body.
        for (const { req } of inFlight) if (!req.complete) req.socket.destroy()
      }, REQUEST_TIMEOUT_MS).unref()
      setTimeout(() => {
        for (const { req, headersSent } of inFlight) if (headersSent) req.socket.destroy()
      }, RESPONSE_TIMEOUT_MS).unref()
    })
  },
  { name: 'close-connections' },
)
