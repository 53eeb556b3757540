import { hash, timingSafeEqual } from 'node:crypto'
import fp from 'fastify-plugin'
import type { ManagementToken } from '../../../config/parsers.ts'
import { ApiError } from '../../api-error.ts'
import { bearerCredential } from '../../headers.ts'
import '../principal.ts'

export interface TokenAuthenticationOptions {
  tokens: readonly ManagementToken[]
  /** Called for a missing or wrong token. */
  onRejected(): void
}

/** Authenticates the bearer token of a request. */
export default fp<TokenAuthenticationOptions>(
  async (app, { tokens, onRejected }) => {
    app.decorateRequest('principal', null)
    app.addHook('onRequest', async (request) => {
      const credential = bearerCredential(request.raw.rawHeaders)
      const token = credential === undefined ? undefined : findToken(tokens, credential)
      if (token === undefined) {
        onRejected()
        throw new ApiError('invalid_api_key', { message: INVALID_TOKEN })
      }
      request.principal = {
        actor: `token:${token.name}`,
        tokenName: token.name,
        idempotencyScope: `token:${token.name}`,
        accountId: null,
        capabilities: null,
        mayChange: token.role === 'admin',
      }
    })
  },
  { name: 'token-authentication', dependencies: ['error-handler'] },
)

export const INVALID_TOKEN =
  'Token ausente ou inválido. Envie o cabeçalho "Authorization: Bearer <TOKEN>" com um token de MANAGEMENT_TOKENS.'

/** Compares digests in constant time: how long it takes says nothing about a token. */
function findToken(
  tokens: readonly ManagementToken[],
  credential: string,
): ManagementToken | undefined {
  const digest = hash('sha256', credential, 'buffer')
  return tokens.find((token) => timingSafeEqual(token.digest, digest))
}
