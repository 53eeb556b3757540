import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../management/audit/audit-entry.ts'
import type { Capability } from '../../management/sessions/session-store.ts'
import { ApiError } from '../api-error.ts'
import { READ_METHODS } from '../routes/read-route.ts'

/**
 * The sender of a request, and what it may do: a token of the platform, or a session of the
 * console.
 */
export interface Principal {
  /** In the audit log. */
  actor: string
  /** In the request log; `null` for a session, whose subject can be an e-mail address. */
  tokenName: string | null
  /** Each scope has its own `Idempotency-Key`s: a token, or a session. */
  idempotencyScope: string
  /** The only account that it sees; `null` for every account. */
  accountId: string | null
  /** `null` for all of them. */
  capabilities: readonly Capability[] | null
  mayChange: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** `null` before authentication; absent outside `/v1`. */
    principal?: Principal | null
  }
}

/** Returns the principal of a request. @throws Error without authentication */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal) return request.principal
  throw new Error('request has no principal: register an authentication before this route')
}

/** The actor of an authenticated request, for the audit log. */
export function actorOf(request: FastifyRequest): Actor {
  return { name: principalOf(request).actor, requestId: request.id }
}

/**
 * Another account does not exist for a session, and neither does a section of the console without
 * its capability.
 * @throws ApiError `resource_missing`, `forbidden_role`
 */
export function authorize(request: FastifyRequest, { accountId, capability }: Access): void {
  const principal = principalOf(request)
  const { capabilities } = principal
  const seesAccount = principal.accountId === null || principal.accountId === accountId
  const hasPart =
    capabilities === null || (capability !== undefined && capabilities.includes(capability))
  if (!seesAccount || !hasPart) request.server.throwNotFound()
  if (!principal.mayChange && !READ_METHODS.includes(request.method)) {
    throw new ApiError('forbidden_role')
  }
}

/** What a route needs. Its method says whether it changes anything. */
interface Access {
  /** `null`: all accounts. */
  accountId: string | null
  /** Absent for routes that no session may use. */
  capability?: Capability
}
