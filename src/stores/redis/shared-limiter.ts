import { readCaFile } from '../../config/ca-file.ts'
import type { Config } from '../../config/config.ts'
import type { Instrument } from '../../lib/instrument.ts'
import {
  createFallbackLimiter,
  type FallbackLimiter,
  type LimiterDecision,
} from '../../rate-limit/fallback-limiter.ts'
import type { Limiter } from '../../rate-limit/limiter.ts'
import { connectRedis } from './client.ts'
import { createRedisLimiter } from './limiter.ts'

/** What an operator wants to know of the counters. */
export interface SharedLimiterEvents {
  /** A decision of this process alone, because Redis did not answer in time. */
  onFallbackDecision(decision: LimiterDecision): void
  /** Sees every decision that Redis is asked for. */
  instrumentRedis: Instrument<LimiterDecision>
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
  { onFallbackDecision, instrumentRedis, onDegraded, onRecovered, deadlineMs }: SharedLimiterEvents,
): Promise<FallbackLimiter> {
  const ca = readCaFile('REDIS_CA_FILE', config.redisCaFile)
  const connection = await connectRedis({ urls, ca, onError: onDegraded })
  const shared = createRedisLimiter(connection.redis, {
    prefix: config.redisPrefix,
    rate: config.rateLimit,
  })
  const limiter = createFallbackLimiter({
    shared,
    local,
    ...(deadlineMs !== undefined && { deadlineMs }),
    onFallbackDecision,
    instrument: instrumentRedis,
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
