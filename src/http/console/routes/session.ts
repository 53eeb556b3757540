import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../../../lib/clock.ts'
import { formatInstant } from '../../../lib/instant.ts'
import type { Sessions } from '../../../management/sessions/sessions.ts'
import { ApiError } from '../../api-error.ts'
import { defineBody } from '../../management/body.ts'
import { actorOf } from '../../management/principal.ts'
import { EXPIRED_SESSION_COOKIE, sessionCookie } from '../session-cookie.ts'

export interface StartSessionOptions {
  sessions: Pick<Sessions, 'exchange'>
  /** Epoch milliseconds. */
  clock: Clock
}

const Token = defineBody(Type.Object({ token: Type.String({ expected: 'o código do link' }) }))
const USED_LINK =
  'Este link já foi usado ou passou do prazo. Volte ao site da plataforma e abra o painel de novo.'

/** `POST /v1/session`: exchanges the token of a link for a session. Needs no session. */
export const startSession: FastifyPluginAsyncTypebox<StartSessionOptions> = async (
  app,
  { sessions, clock },
) => {
  app.post('/session', async (request, reply) => {
    const { token } = Token.parse(request.body)
    const session = await sessions.exchange(token)
    if (session === null) throw new ApiError('invalid_api_key', { message: USED_LINK })
    const seconds = Math.floor((session.expiresAt - clock()) / 1_000)
    return reply.code(204).header('Set-Cookie', sessionCookie(session.secret, seconds)).send()
  })
}

export interface SessionRoutesOptions {
  sessions: Pick<Sessions, 'end'>
}

/** `GET | DELETE /v1/session`: the session of the cookie, for the page to know its account. */
export const sessionRoutes: FastifyPluginAsyncTypebox<SessionRoutesOptions> = async (
  app,
  { sessions },
) => {
  app.get('/session', async (request) => {
    const { accountId, subject, capabilities, expiresAt } = sessionOf(request)
    return {
      object: 'session',
      account_id: accountId,
      subject,
      capabilities,
      expires_at: formatInstant(expiresAt),
    }
  })

  app.delete('/session', async (request, reply) => {
    await sessions.end(actorOf(request), sessionOf(request).secret)
    return reply.code(204).header('Set-Cookie', EXPIRED_SESSION_COOKIE).send()
  })
}

function sessionOf({ consoleSession }: FastifyRequest) {
  if (consoleSession !== null) return consoleSession
  throw new Error('request has no session: register session-authentication before this route')
}
