import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import type { RequestScope } from '../../lib/request-scope.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Bounds all work for a request of `/v1`, and owns the memory of its pages. */
    scope: RequestScope
  }
}

export interface RequestScopeOptions {
  /** From the arrival of a request until its response is rendered, in milliseconds. */
  deadlineMs: number
}

/**
 * Gives every request one deadline, stops its store calls when the client disconnects, and frees
 * its pages when the response is sent.
 */
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
  let frees: (() => void)[] | undefined

  function release(): void {
    for (const free of frees?.splice(0) ?? []) free()
  }

  return {
    remainingMs: () => deadlineMs - reply.elapsedTime,
    onDisconnect(stop) {
      if (raw.closed) stop()
      else raw.once('close', stop)
      return () => raw.off('close', stop)
    },
    onRelease(free) {
      // Emitted when the system has all bytes of the response. After a disconnect they may still be
      // in use, and wait for a collection.
      if (frees === undefined) raw.once('finish', release)
      frees ??= []
      frees.push(free)
    },
    release,
  }
}
