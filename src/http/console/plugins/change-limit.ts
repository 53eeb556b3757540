import fp from 'fastify-plugin'
import { monotonicClock } from '../../../lib/clock.ts'
import { createMemoryLimiter } from '../../../rate-limit/memory-limiter.ts'
import { ApiError } from '../../api-error.ts'
import '../../management/principal.ts'
import { READ_METHODS } from '../../routes/read-route.ts'

/** For each account, in this process: far above what people do. */
const CHANGE_RATE = { capacity: 100, refillPerSecond: 1 }

/**
 * Limits the changes of all sessions of an account. Each has an audit entry, and many leave a
 * record, that the service keeps forever: a script would fill the store.
 */
export default fp(
  async (app) => {
    const limiter = createMemoryLimiter(CHANGE_RATE, monotonicClock)
    app.addHook('onRequest', async ({ method, principal }) => {
      const accountId = principal?.accountId
      if (READ_METHODS.includes(method) || typeof accountId !== 'string') return
      const { allowed, retryAfterSeconds } = await limiter.take(accountId)
      if (!allowed) throw new ApiError('rate_limited', { retryAfterSeconds, message: TOO_MANY })
    })
  },
  { name: 'change-limit', dependencies: ['session-authentication'] },
)

const TOO_MANY = 'São mudanças demais em pouco tempo. Espere alguns segundos e tente de novo.'
