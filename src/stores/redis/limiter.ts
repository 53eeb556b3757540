import type { Cluster, Redis } from 'ioredis'
import { MAX_FAILURES, WINDOW_MS } from '../../rate-limit/failure-window.ts'
import { type BucketRate, bucketDecision } from '../../rate-limit/gcra.ts'
import type { Limiter } from '../../rate-limit/limiter.ts'
import { redactCommand } from './client.ts'
import { blockedFor, countFailure, type Script, take } from './scripts.ts'

export interface RedisLimiterOptions {
  /** Goes before every key; no braces. */
  prefix: string
  rate: BucketRate
}

/**
 * Counters that all processes share. Each decision is one script on one key, whose braces keep it in one
 * slot of a cluster. Fails when Redis does: what then counts is `limits/degraded-limiter.ts`.
 */
export function createRedisLimiter(
  redis: Redis | Cluster,
  { prefix, rate }: RedisLimiterOptions,
): Limiter {
  const bucket = (accountId: string) => `${prefix}bucket:{${accountId}}`
  const failures = (address: string) => `${prefix}failures:{${address}}`

  async function run({ lua, sha1 }: Script, key: string, ...args: number[]): Promise<unknown> {
    const isMissingScript = (error: Error) => error.message.startsWith('NOSCRIPT')
    try {
      return await redis.evalsha(sha1, 1, key, ...args).catch((error: Error) => {
        // A restarted Redis has forgotten its scripts; nothing has run yet, so it is safe to say it again.
        if (isMissingScript(error)) return redis.eval(lua, 1, key, ...args)
        throw error
      })
    } catch (error) {
      throw redactCommand(error)
    }
  }

  return {
    async take(accountId) {
      const { capacity, refillPerSecond } = rate
      const reply = await run(take, bucket(accountId), capacity, refillPerSecond)
      const [isAllowed, debt] = Array.isArray(reply) ? reply : [reply]
      if (isAllowed !== 0 && isAllowed !== 1) throw unexpected('take', reply)
      return bucketDecision(rate, isAllowed === 1, wholeNumber('take', debt))
    },

    async blockedSeconds(address) {
      const reply = await run(blockedFor, failures(address), MAX_FAILURES)
      return Math.ceil(wholeNumber('blockedFor', reply) / 1000)
    },

    async countFailure(address) {
      const reply = await run(countFailure, failures(address), MAX_FAILURES, WINDOW_MS)
      return Math.ceil(wholeNumber('countFailure', reply) / 1000)
    },
  }
}

function wholeNumber(script: string, reply: unknown): number {
  if (typeof reply === 'number' && Number.isSafeInteger(reply) && reply >= 0) return reply
  throw unexpected(script, reply)
}

function unexpected(script: string, reply: unknown): Error {
  return new Error(`Redis answered ${JSON.stringify(reply)} to the script ${script}`)
}
