import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

/** Receives a request whose connection closed before the whole response was sent. */
export type AbandonedListener = (request: FastifyRequest, reply: FastifyReply) => void

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Adds a listener for all requests of the app: `onResponse` does not run for abandoned ones.
     */
    onAbandoned(listener: AbandonedListener): void
  }
  interface FastifyRequest {
    isResponseSent: boolean
  }
}

/**
 * Reports each request once whose connection closes before the whole response is sent: the client
 * disconnects, or the service ends the connection at a limit.
 */
export default fp(
  async (app) => {
    const listeners: AbandonedListener[] = []
    app.decorate('onAbandoned', (listener: AbandonedListener) => void listeners.push(listener))
    app.decorateRequest('isResponseSent', false)
    app.addHook('onRequest', (request, reply, next) => {
      reply.raw.once('close', () => {
        if (request.isResponseSent) return
        for (const listener of listeners) listener(request, reply)
      })
      next()
    })
    app.addHook('onResponse', (request, _reply, done) => {
      request.isResponseSent = true
      done()
    })
  },
  { name: 'abandoned-requests' },
)
