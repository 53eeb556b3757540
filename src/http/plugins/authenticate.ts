import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { sandboxOf } from '../../auth/account-ids.ts'
import { isTestKey, isWellFormedKey, keyDigest } from '../../auth/api-key.ts'
import { inactiveReason } from '../../auth/inactive-reason.ts'
import type { KeyCache } from '../../auth/key-cache.ts'
import type { KeyRecord, KeyStore } from '../../auth/key-store.ts'
import { createLastUse } from '../../auth/last-use.ts'
import type { Clock } from '../../lib/clock.ts'
import { HOUR_MS } from '../../lib/durations.ts'
import { ipRateLimitKey } from '../../rate-limit/ip-rate-limit-key.ts'
import type { Limiter } from '../../rate-limit/limiter.ts'
import { ApiError } from '../api-error.ts'
import { bearerCredential } from '../headers.ts'

/** The owner of a valid key. */
export interface Caller {
  /** The account whose orders it reads: for a key of a sandbox, the internal one. */
  accountId: string
  accountBlocked: boolean
  key: KeyRecord
}

declare module 'fastify' {
  interface FastifyRequest {
    /** `null` before `authenticate`; absent outside `/v1`. */
    caller?: Caller | null
  }
}

/** Returns the caller of an authenticated request. @throws Error without `authenticate` */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) {
    throw new Error('request has no caller: register authenticate before this route')
  }
  return request.caller
}

export interface AuthenticateOptions {
  pepper: Uint8Array
  keys: KeyStore
  keyCache: KeyCache
  limiter: Limiter
  /** Epoch milliseconds. */
  clock: Clock
  /** From the arrival of a request until its response is rendered, in milliseconds. */
  requestDeadlineMs: number
}

/** The 24 hours that the guide promises, plus the hour by which a stored last use can be late. */
const TRUSTED_MS = 25 * HOUR_MS

/**
 * Authenticates the bearer key and enforces the block of IP addresses with repeated failures. A key
 * that was valid within a day skips the address counter, so a typical request makes one limiter
 * decision. Another valid key only reads the block; an invalid key reads and counts in one step.
 * The first use of a key is stored before its request continues.
 */
export default fp<AuthenticateOptions>(
  async (app, { pepper, keys, keyCache, limiter, clock, requestDeadlineMs }) => {
    const lastUse = createLastUse({
      keys,
      deadlineMs: requestDeadlineMs,
      onFailure({ keyId }, err) {
        app.log.warn({ err, key_id: keyId }, 'last use of the key not recorded')
      },
    })
    app.decorateRequest('caller', null)

    app.addHook('onRequest', async (request) => {
      // A CORS preflight carries no key: it is an unknown route, not a failed authentication.
      if (request.method === 'OPTIONS' && request.headers.authorization === undefined) {
        throw new ApiError('resource_missing')
      }
      // Read before any wait: the socket of a client that has gone has no address.
      const { ip, socket, scope } = request
      const peer = socket.remoteAddress
      const address = () => ipRateLimitKey(ip, peer)
      const now = clock()
      const credential = bearerKey(request)
      const keyWithAccount =
        credential && (await keyCache.find(keyDigest(pepper, credential), scope.remainingMs()))

      if (!keyWithAccount || !isValid(keyWithAccount.key, credential, now)) {
        throwIfBlocked(await limiter.countFailure(address()))
        throw new ApiError('invalid_api_key')
      }
      const { key, accountBlocked } = keyWithAccount
      const usedAt = lastUse.of(key)
      if (now - usedAt >= TRUSTED_MS) throwIfBlocked(await limiter.blockedSeconds(address()))
      if (usedAt === -Infinity) await lastUse.storeFirst(key, now, scope.remainingMs())
      else lastUse.record(key, now)
      request.caller = {
        accountId: key.isTest ? sandboxOf(key.accountId) : key.accountId,
        accountBlocked,
        key,
      }
    })
  },
  { name: 'authenticate', dependencies: ['error-handler', 'request-scope'] },
)

function bearerKey({ raw }: FastifyRequest): string | undefined {
  const key = bearerCredential(raw.rawHeaders)
  return key !== undefined && isWellFormedKey(key) ? key : undefined
}

/** The prefix of a key promises what it reads, so its record must agree. */
function isValid(key: KeyRecord, credential: string, now: number): boolean {
  return isTestKey(credential) === key.isTest && inactiveReason(key, now) === undefined
}

function throwIfBlocked(seconds: number): void {
  if (seconds === 0) return
  throw new ApiError('rate_limited', {
    retryAfterSeconds: seconds,
    message: `Muitas tentativas sem chave válida a partir deste endereço IP. Confira a chave e tente de novo em ${seconds} s.`,
  })
}
