import { readCaFile } from '../../ca-file.ts'
import type { Config } from '../../config.ts'
import type { Observe } from '../../lib/observe.ts'
import {
  createDegradedLimiter,
  type DegradedLimiter,
  type LimiterDecision,
} from '../../limits/degraded-limiter.ts'
import type { Limiter } from '../../limits/limiter.ts'
import { connectRedis } from './client.ts'
import { createRedisLimiter } from './limiter.ts'

/** What an operator wants to know of the counters. */
export interface SharedLimiterEvents {
  /** A decision of this process alone, because Redis did not answer in time. */
  onDegradedDecision(decision: LimiterDecision): void
  /** Sees every decision that Redis is asked for. */
  observeRedis: Observe<LimiterDecision>
  /** Redis stopped answering, or does again. */
  onDegraded(error: unknown): void
  onRecovered(): void
  /** How long a decision may take, in milliseconds; the limiter's own default when absent. */
  deadlineMs?: number
}

/**
 * Counters in Redis, with `local` deciding while it does not answer. Redis need not be there yet.
 */
export async function openSharedLimiter(
  config: Pick<Config, 'redisCaFile' | 'redisPrefix' | 'rateLimit'>,
  urls: readonly string[],
  local: Limiter,
  { onDegradedDecision, observeRedis, onDegraded, onRecovered, deadlineMs }: SharedLimiterEvents,
): Promise<DegradedLimiter> {
  const ca = readCaFile('REDIS_CA_FILE', config.redisCaFile)
  const connection = await connectRedis({ urls, ca, onError: onDegraded })
  const shared = createRedisLimiter(connection.redis, {
    prefix: config.redisPrefix,
    rate: config.rateLimit,
  })
  const limiter = createDegradedLimiter({
    shared,
    local,
    ...(deadlineMs !== undefined && { deadlineMs }),
    onDegradedDecision,
    observe: observeRedis,
    onStateChange: (degraded, cause) => (degraded ? onDegraded(cause) : onRecovered()),
    reconnect: () => connection.reconnect(),
  })
  return {
    ...limiter,
    close() {
      limiter.close()
      connection.close()
    },
  }
}
