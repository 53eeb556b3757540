import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { InvalidParamError } from '../../../lib/errors/invalid-param-error.ts'
import { Unavailable } from '../../../lib/errors/unavailable.ts'
import type { HeldClaim, Idempotency } from '../../../management/idempotency/idempotency.ts'
import { ApiError } from '../../api-error.ts'
import { JSON_TYPE } from '../../headers.ts'
import { principalOf } from '../principal.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Held while the request runs under an `Idempotency-Key`. */
    idempotencyClaim: HeldClaim | null
  }
}

export interface IdempotencyOptions {
  idempotency: Idempotency
}

const HEADER = 'idempotency-key'
/** Marks a response without secrets: of an earlier one, or of what a failed request has stored. */
export const REPLAYED = { 'Idempotent-Replayed': 'true' } as const
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/
/** Distinguishes the only conflict of a key that ends by itself. */
const RETRY_SECONDS = 1
/** Ingestion is idempotent by the version of each order, and its responses are large. */
const WITHOUT_KEYS: readonly string[] = ['/v1/source-orders']
/** Members that appear once, and are never stored. */
const SECRET_MEMBERS: readonly string[] = ['key', 'secret']
/** The link to a console is a secret too; the `url` of an endpoint is not. */
const LINK_ROUTE = '/v1/accounts/:account/sessions'

/**
 * Runs a POST with an `Idempotency-Key` once. Only a success is kept: after an error, the same key
 * runs the request again.
 */
export default fp<IdempotencyOptions>(
  async (app, { idempotency }) => {
    app.decorateRequest('idempotencyClaim', null)

    app.addHook('preHandler', async (request, reply) => {
      const key = request.headers[HEADER]
      const { url: route = '' } = request.routeOptions
      if (key === undefined || request.method !== 'POST' || WITHOUT_KEYS.includes(route)) return
      if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)) {
        throw new InvalidParamError('Idempotency-Key', KEY_HELP)
      }
      const id = requestId(request, key)
      const bodyDigest = hash('sha256', textOf(request.body))
      const decision = await idempotency.begin({ id, bodyDigest })
      if (decision.kind === 'in_progress') {
        throw new ApiError('conflict', { message: IN_PROGRESS, retryAfterSeconds: RETRY_SECONDS })
      }
      if (decision.kind === 'other_body') throw new ApiError('conflict', { message: OTHER_BODY })
      if (decision.kind === 'started') {
        request.idempotencyClaim = decision.claim
        return
      }
      const { status, body } = decision.response
      return reply.headers(REPLAYED).code(status).type(JSON_TYPE).send(body)
    })

    // Before the response is sent, so that a repetition after it is always replayed.
    app.addHook('onSend', async (request, { statusCode: status }, payload) => {
      const { idempotencyClaim: claim } = request
      if (claim === null) return
      const { url } = request.routeOptions
      // A throw here becomes an error, for which this hook runs again and ends the claim.
      const end =
        status < 400
          ? claim.complete({ status, body: withoutSecrets(String(payload), url) })
          : claim.forget()
      // The response still reports what happened. A repetition is a conflict for some minutes.
      await end.catch((error: unknown) => {
        if (!(error instanceof Unavailable)) throw error
        request.log.warn(
          { reason: error.message },
          'the result of an Idempotency-Key is not stored',
        )
      })
    })
  },
  // Of a token or of a session: every authentication decorates requests with their principal.
  { name: 'idempotency', decorators: { request: ['principal'] } },
)

/** A request without a body has no field. @throws InvalidParamError */
function textOf(body: unknown): string {
  try {
    return JSON.stringify(body === undefined ? {} : body)
  } catch {
    // JSON.stringify is recursive, and JSON.parse is not.
    throw new InvalidParamError('body', 'O corpo tem objetos ou listas aninhados demais.')
  }
}

const KEY_HELP = 'Envie em Idempotency-Key de 1 a 255 caracteres ASCII visíveis, uma única vez.'
const IN_PROGRESS =
  'Uma requisição com esta Idempotency-Key ainda está em andamento. Aguarde e envie a mesma de novo.'
const OTHER_BODY =
  'Esta Idempotency-Key já foi usada com outro corpo. Envie o mesmo corpo, ou use outra chave.'

/** The scope of a key: the token or session, and the route with its ids. */
function requestId(request: FastifyRequest, key: string): string {
  const { idempotencyScope: scope } = principalOf(request)
  return hash('sha256', JSON.stringify([scope, request.routeOptions.url, request.params, key]))
}

function withoutSecrets(body: string, route: string | undefined): string {
  const secret = route === LINK_ROUTE ? [...SECRET_MEMBERS, 'url'] : SECRET_MEMBERS
  const members = Object.entries(JSON.parse(body)).filter(([name]) => !secret.includes(name))
  return JSON.stringify(Object.fromEntries(members))
}
