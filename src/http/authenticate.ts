import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { isWellFormedKey, keyDigest } from '../auth/api-key.ts'
import { bearerCredential } from '../auth/bearer.ts'
import type { KeyCache } from '../auth/key-cache.ts'
import type { KeyHolder, KeyStore } from '../auth/key-store.ts'
import { inactiveReason } from '../auth/keys.ts'
import { ApiError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { countedAddress } from '../limits/client-ip.ts'
import type { Limiter } from '../limits/limiter.ts'
import { headerValues } from './headers.ts'

export interface AuthenticateOptions {
  pepper: Uint8Array
  keys: KeyStore
  keyCache: KeyCache
  limiter: Limiter
  /** Epoch milliseconds. */
  clock: Clock
}

const HOUR_MS = 3_600_000
/** The 24 hours of the contract, and the one by which `lastValidAt` may be behind. */
const TRUSTED_MS = 25 * HOUR_MS

/**
 * The bearer key (contract, "Authentication"), and the block of addresses that keep sending bad ones
 * ("Limits"). A key seen valid within a day asks nothing of the address's counter, so the hot path stays
 * at one decision of the limiter; another valid key asks whether the address is blocked; a bad one asks
 * and counts in one step.
 */
export default fp<AuthenticateOptions>(
  async (app, { pepper, keys, keyCache, limiter, clock }) => {
    app.decorateRequest('caller', null)

    app.addHook('onRequest', async (request) => {
      // A browser's preflight carries no key; it is no failed authentication, only no route.
      if (request.method === 'OPTIONS' && request.headers.authorization === undefined) {
        throw new ApiError('resource_missing')
      }
      const address = countedAddress(request.ip)
      const now = clock()
      const holder = await findHolder(request)

      if (holder === null || inactiveReason(holder.key, now) !== undefined) {
        refuseIfBlocked(await limiter.countFailure(address))
        throw new ApiError('invalid_api_key')
      }
      if (now - (holder.key.lastValidAt ?? -Infinity) >= TRUSTED_MS) {
        refuseIfBlocked(await limiter.blockedSeconds(address))
      }
      await noteValid(request, holder, now)
      const { keyId, accountId, scopes } = holder.key
      request.caller = { keyId, accountId, scopes, accountBlocked: holder.accountBlocked }
    })

    async function findHolder(request: FastifyRequest): Promise<KeyHolder | null> {
      const key = bearerKey(request)
      return key === undefined ? null : keyCache.find(keyDigest(pepper, key))
    }

    /** Keeps `lastValidAt` within an hour of the truth. Losing the note must not cost the request. */
    async function noteValid(request: FastifyRequest, holder: KeyHolder, now: number) {
      if (now - (holder.key.lastValidAt ?? -Infinity) < HOUR_MS) return
      try {
        await keys.update(holder.key.keyId, { lastValidAt: now })
        keyCache.amend(holder.key.digest, { ...holder, key: { ...holder.key, lastValidAt: now } })
      } catch (err) {
        request.log.warn({ err, key_id: holder.key.keyId }, 'last use of the key not recorded')
      }
    }
  },
  { name: 'authenticate', dependencies: ['error-handler'] },
)

function bearerKey({ raw }: FastifyRequest): string | undefined {
  const [header, ...others] = headerValues(raw.rawHeaders, 'authorization')
  if (header === undefined || others.length > 0) return undefined
  const key = bearerCredential(header)
  return key !== undefined && isWellFormedKey(key) ? key : undefined
}

function refuseIfBlocked(seconds: number): void {
  if (seconds === 0) return
  throw new ApiError('rate_limited', {
    retryAfterSeconds: seconds,
    message: `Muitas tentativas com chave inválida a partir deste endereço IP. Confira a chave e tente de novo em ${seconds} s.`,
  })
}
