import { Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import fp from 'fastify-plugin'
import { monotonicClock } from '../../lib/clock.ts'
import { connectionTrackerOf } from './connection-tracker.ts'

/** After the drain: how long a client that has sent nothing can take to start its request. */
const FIRST_BYTE_TIMEOUT_MS = 500
/** After the drain: how long a client can take to complete a request. */
const REQUEST_TIMEOUT_MS = 2_000
/** After the drain: how long a client can take to read a response. */
const RESPONSE_TIMEOUT_MS = 4_000
const CHECK_INTERVAL_MS = 25

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

      // Node's `close()` takes a connection for idle, and closes it, whose response is ended but
      // not completely flushed: its client would get the beginning only. Before the wait for them
      // the server stops listening, because the timers above close no connection that is accepted
      // later.
      if (app.server.listening) Server.prototype.close.call(app.server)
      const deadline = monotonicClock() + RESPONSE_TIMEOUT_MS
      const isReading = () => [...inFlight].some(({ writableEnded }) => writableEnded)
      while (isReading() && monotonicClock() < deadline) await sleep(CHECK_INTERVAL_MS)
    })
  },
  { name: 'close-connections' },
)
