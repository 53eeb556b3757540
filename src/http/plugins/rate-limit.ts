import fp from 'fastify-plugin'
import type { Limiter } from '../../rate-limit/limiter.ts'
import { ApiError } from '../api-error.ts'
import { callerOf } from './authenticate.ts'

export interface RateLimitOptions {
  limiter: Limiter
  /** The number of requests in a full bucket. */
  capacity: number
}

/** Consumes one request of the account's token bucket and reports the bucket in `RateLimit-*`. */
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
