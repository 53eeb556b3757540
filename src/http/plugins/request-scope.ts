import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import type { RequestScope } from '../../lib/request-scope.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Bounds all work for a request of `/v1`: its deadline and its client's connection. */
    scope: RequestScope
  }
}

export interface RequestScopeOptions {
  /** From the arrival of a request until its response is rendered, in milliseconds. */
  deadlineMs: number
}

/** Gives every request one deadline, and stops its store calls when the client disconnects. */
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

/** Creates no timer, signal or listener up front: a request pays only for those it uses. */
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
