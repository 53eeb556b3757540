import { hash } from 'node:crypto'
import fp from 'fastify-plugin'
import type { ActiveSession, Sessions } from '../../../management/sessions/sessions.ts'
import { ApiError } from '../../api-error.ts'
import '../../management/principal.ts'
import { EXPIRED_SESSION_COOKIE, readSessionCookie } from '../session-cookie.ts'

export interface SessionAuthenticationOptions {
  sessions: Pick<Sessions, 'find'>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** `null` before authentication. */
    consoleSession: (ActiveSession & { secret: string }) | null
  }
}

/** Authenticates the session of a request by its cookie. */
export default fp<SessionAuthenticationOptions>(
  async (app, { sessions }) => {
    app.decorateRequest('principal', null)
    app.decorateRequest('consoleSession', null)
    app.addHook('onRequest', async (request, reply) => {
      const secret = readSessionCookie(request.raw.rawHeaders)
      const session = secret === undefined ? null : await sessions.find(secret)
      if (secret === undefined || session === null) {
        if (secret !== undefined) reply.header('Set-Cookie', EXPIRED_SESSION_COOKIE)
        throw new ApiError('invalid_api_key', { message: ENDED })
      }
      const { accountId, subject, capabilities } = session
      request.consoleSession = { ...session, secret }
      request.principal = {
        actor: `console:${subject}`,
        tokenName: null,
        // Another session of the user may lack a capability, or belong to another account.
        idempotencyScope: `session:${hash('sha256', secret)}`,
        accountId,
        capabilities,
        mayChange: true,
      }
    })
  },
  { name: 'session-authentication', dependencies: ['same-origin', 'error-handler'] },
)

const ENDED =
  'Sua sessão terminou. Volte ao site da plataforma e abra o painel de novo, por um link novo.'
