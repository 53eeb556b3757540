import fp from 'fastify-plugin'
import type { Limiter } from '../../rate-limit/limiter.ts'
import { ApiError } from '../api-error.ts'
import { callerOf } from './caller.ts'

export interface RateLimitOptions {
  limiter: Limiter
  /** Requests of a full bucket. */
  capacity: number
}

/** Takes one request from the account's bucket and tells what is left (contract, "Limits"). */
export default fp<RateLimitOptions>(
  async (app, { limiter, capacity }) => {
    app.addHook('onRequest', async (request, reply) => {
      const decision = await limiter.take(callerOf(request).accountId)
      reply.headers({
        'RateLimit-Limit': capacity,
        'RateLimit-Remaining': decision.remaining,
        'RateLimit-Reset': decision.resetSeconds,
      })
      if (decision.allowed) return
      throw new ApiError('rate_limited', { retryAfterSeconds: decision.retryAfterSeconds })
    })
  },
  { name: 'rate-limit', dependencies: ['authenticate'] },
)
