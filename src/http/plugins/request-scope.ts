import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import type { RequestScope } from '../../lib/request-scope.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Bounds everything that is done for a request of `/v1`, from its arrival on. */
    scope: RequestScope
  }
}

export interface RequestScopeOptions {
  /** From the arrival of a request until its answer is made, in milliseconds. */
  deadlineMs: number
}

/** Gives every request one deadline, and tells the calls for it when its caller disconnects. */
export default fp<RequestScopeOptions>(
  async (app, { deadlineMs }) => {
    app.decorateRequest('scope')
    app.addHook('onRequest', (request, reply, next) => {
      request.scope = scopeOf(reply, deadlineMs)
      next()
    })
  },
  { name: 'request-scope' },
)

/** Without a timer, a signal or a listener of its own: each request pays for those it needs. */
function scopeOf(reply: FastifyReply, deadlineMs: number): RequestScope {
  const { raw } = reply
  return {
    remainingMs: () => deadlineMs - reply.elapsedTime,
    onDisconnect(stop) {
      if (raw.closed) stop()
      else raw.once('close', stop)
      return () => raw.off('close', stop)
    },
  }
}
