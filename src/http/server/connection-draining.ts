import fp from 'fastify-plugin'
import { connectionTrackerOf } from './connection-tracker.ts'

/** How long a client that has not sent anything yet may take to begin, once the service closes. */
const FIRST_BYTE_TIMEOUT_MS = 500
/** The same for the rest of a request, for a client that has sent half of it. */
const REQUEST_TIMEOUT_MS = 2_000
/** The same for reading an answer that was made after that. */
const RESPONSE_TIMEOUT_MS = 5_000

/**
 * Closing waits for every connection, and Node lets go only of those that have had an answer: one that
 * never sent anything, as balancers keep, would hold the service until it is killed.
 */
export default fp(
  async (app) => {
    const { open, idle, inFlight } = connectionTrackerOf(app.server)

    app.addHook('preClose', async () => {
      setTimeout(() => {
        for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
      }, FIRST_BYTE_TIMEOUT_MS).unref()
      setTimeout(() => {
        for (const socket of idle) socket.destroy()
      }, REQUEST_TIMEOUT_MS).unref()
      setTimeout(() => {
        for (const { req, headersSent } of inFlight) if (headersSent) req.socket.destroy()
      }, RESPONSE_TIMEOUT_MS).unref()
    })
  },
  { name: 'drain' },
)
