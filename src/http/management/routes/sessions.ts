import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { formatInstant } from '../../../lib/instant.ts'
import { capabilities } from '../../../management/sessions/session-store.ts'
import {
  DEFAULT_TTL_SECONDS,
  MAX_SUBJECT_LENGTH,
  MAX_TTL_SECONDS,
  MIN_TTL_SECONDS,
  type Sessions,
} from '../../../management/sessions/sessions.ts'
import { ApiError } from '../../api-error.ts'
import { consoleLink } from '../../console/console-link.ts'
import { defineBody, lineField } from '../body.ts'
import { AccountParams } from '../path-params.ts'
import { actorOf, authorize } from '../principal.ts'

export interface SessionsRoutesOptions {
  sessions: Pick<Sessions, 'createLink'>
  /** The origin of the links; `null` when there is no console. */
  consoleUrl: string | null
}

const CAPABILITIES = `uma lista com um ou mais destes: ${capabilities.join(', ')}`

export const CreateSession = defineBody(
  Type.Object({
    subject: lineField({
      minLength: 1,
      maxLength: MAX_SUBJECT_LENGTH,
      expected: `quem usa o painel, com 1 a ${MAX_SUBJECT_LENGTH} caracteres em uma linha`,
    }),
    capabilities: Type.Array(
      Type.Union(
        capabilities.map((name) => Type.Literal(name)),
        { expected: CAPABILITIES },
      ),
      {
        minItems: 1,
        expected: CAPABILITIES,
      },
    ),
    ttl_seconds: Type.Optional(
      Type.Integer({
        minimum: MIN_TTL_SECONDS,
        maximum: MAX_TTL_SECONDS,
        expected: `um número de ${MIN_TTL_SECONDS} a ${MAX_TTL_SECONDS}`,
      }),
    ),
  }),
)
const NO_CONSOLE = 'Este serviço não tem um painel. Defina CONSOLE_PORT e inicie o serviço de novo.'

/** `POST /v1/accounts/{account}/sessions`. */
const sessionsRoutes: FastifyPluginAsyncTypebox<SessionsRoutesOptions> = async (app, options) => {
  const { sessions, consoleUrl } = options

  app.post('/sessions', { schema: { params: AccountParams } }, async (request, reply) => {
    const { account: accountId } = request.params
    authorize(request, { accountId })
    if (consoleUrl === null) throw new ApiError('invalid_request', { message: NO_CONSOLE })
    const body = CreateSession.parse(request.body)
    const { secret, expiresAt } = await sessions.createLink(actorOf(request), {
      accountId,
      subject: body.subject,
      capabilities: body.capabilities,
      ttlSeconds: body.ttl_seconds ?? DEFAULT_TTL_SECONDS,
    })
    const link = { url: consoleLink(consoleUrl, secret), expires_at: formatInstant(expiresAt) }
    return reply.code(201).send(link)
  })
}

export default sessionsRoutes
