import fp from 'fastify-plugin'
import { monotonicClock } from '../../../lib/clock.ts'
import { createMemoryLimiter } from '../../../rate-limit/memory-limiter.ts'
import { ApiError } from '../../api-error.ts'
import '../../management/principal.ts'
import { READ_METHODS } from '../../routes/read-route.ts'

/** For each user, in this process: far above what people do. */
const CHANGE_RATE = { capacity: 100, refillPerSecond: 1 }

/**
 * Limits the changes of all sessions of a user. Each has an audit entry, and many leave a record,
 * that the service keeps forever: a script would fill the store. A limit of the account would let
 * any user of it prevent the others from revoking a key.
 */
export default fp(
  async (app) => {
    const limiter = createMemoryLimiter(CHANGE_RATE, monotonicClock)
    app.addHook('onRequest', async ({ method, principal }) => {
      if (!principal || READ_METHODS.includes(method)) return
      const user = `${principal.accountId} ${principal.actor}`
      const { allowed, retryAfterSeconds } = await limiter.take(user)
      if (!allowed) throw new ApiError('rate_limited', { retryAfterSeconds, message: TOO_MANY })
    })
  },
  { name: 'change-limit', dependencies: ['session-authentication'] },
)

const TOO_MANY = 'São mudanças demais em pouco tempo. Espere alguns segundos e tente de novo.'
