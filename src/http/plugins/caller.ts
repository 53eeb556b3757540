import type { FastifyRequest } from 'fastify'
import type { Scope } from '../../auth/key-store.ts'

/** Who is calling, once the key is known to be valid. */
export interface Caller {
  accountId: string
  accountBlocked: boolean
  keyId: string
  scopes: readonly Scope[]
}

declare module 'fastify' {
  interface FastifyRequest {
    /** `null` before `authenticate`, and outside `/v1`. */
    caller: Caller | null
  }
}

/** The caller of a request that `authenticate` let through. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('the route is not behind authenticate')
  return request.caller
}
