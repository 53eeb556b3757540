import { readCaFile } from '../../config/ca-file.ts'
import type { Config } from '../../config/config.ts'
import { monotonicClock } from '../../lib/clock.ts'
import type { Instrument } from '../../lib/instrument.ts'
import { createDenialMemory, repeatDenials } from '../../rate-limit/denial-memory.ts'
import { createFallbackLimiter, type FallbackLimiter } from '../../rate-limit/fallback-limiter.ts'
import type { Limiter, LimiterDecision } from '../../rate-limit/limiter.ts'
import { connectRedis } from './client.ts'
import { createRedisLimiter } from './limiter.ts'

/** Events of the shared limiter, for logs, metrics and traces. */
export interface SharedLimiterEvents {
  /** A decision of the local limiter, because Redis did not respond in time. */
  onFallbackDecision(decision: LimiterDecision): void
  /** Wraps every decision that is sent to Redis. */
  instrumentRedis: Instrument<LimiterDecision>
  /** Redis stopped responding. */
  onDegraded(error: unknown): void
  /** Redis responds again. */
  onRecovered(): void
  /** Maximum duration of a decision in Redis. Default: that of the fallback limiter. */
  deadlineMs?: number
}

/**
 * Opens a limiter on Redis that falls back to `local` while Redis does not respond in time. A
 * denial that Redis would repeat is answered without Redis.
 */
export async function openSharedLimiter(
  config: Pick<Config, 'redisCaFile' | 'redisPrefix' | 'rateLimit'>,
  urls: readonly string[],
  local: Limiter,
  { onFallbackDecision, instrumentRedis, onDegraded, onRecovered, deadlineMs }: SharedLimiterEvents,
): Promise<FallbackLimiter> {
  const ca = readCaFile('REDIS_CA_FILE', config.redisCaFile)
  const connection = await connectRedis({ urls, ca, onError: onDegraded })
  const denials = createDenialMemory(config.rateLimit, monotonicClock)
  const shared = createRedisLimiter(connection.redis, {
    prefix: config.redisPrefix,
    rate: config.rateLimit,
    denials,
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
    ...repeatDenials(limiter, denials),
    isDegraded: limiter.isDegraded,
    close() {
      limiter.close()
      connection.close()
    },
  }
}
