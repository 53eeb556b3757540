import { createKeyCache, type KeyCache } from './auth/key-cache.ts'
import { readCaFile } from './ca-file.ts'
import type { Config } from './config.ts'
import type { StreamInspection } from './indexing/inspection/stream-inspection.ts'
import type { ChangeStream } from './indexing/sources/change-stream.ts'
import { monotonicClock } from './lib/clock.ts'
import type { Limiter } from './limits/limiter.ts'
import { createMemoryLimiter } from './limits/memory-limiter.ts'
import { type CursorCodec, createCursorCodec } from './orders/cursor.ts'
import { loadSecrets } from './secrets.ts'
import type { SharedLimiterEvents } from './stores/redis/shared-limiter.ts'
import { openSqliteStores } from './stores/sqlite/stores.ts'
import type { Stores } from './stores/stores.ts'

/** What a command works with, opened. */
export interface Services extends Stores {
  keyPepper: Uint8Array
}

/** What the server works with besides. */
export interface ServerServices extends Services {
  keyCache: KeyCache
  limiter: Limiter
  cursors: CursorCodec
}

/** Opens the services that the settings name, for a command. */
export async function openServices(
  config: Config,
  role: 'server' | 'command' = 'command',
): Promise<Services> {
  const { keyPepper } = loadSecrets(config)
  return { ...(await openStores(config, role)), keyPepper }
}

/** Opens the services that the settings name, to serve with. Redis need not be there yet. */
export async function openServerServices(
  config: Config,
  limiterEvents: SharedLimiterEvents,
): Promise<ServerServices> {
  const { cursorSecrets } = loadSecrets(config)
  const services = await openServices(config, 'server')
  const local = createMemoryLimiter(config.rateLimit, monotonicClock)
  const limits = await openLimiter(config, local, limiterEvents)

  return {
    ...services,
    keyCache: createKeyCache(services.keys, monotonicClock),
    limiter: limits.limiter,
    cursors: createCursorCodec(cursorSecrets),
    async close() {
      limits.close()
      await services.close()
    },
  }
}

/**
 * Opens the stream of changes, for the command that is named. Redis need not be there yet.
 * @throws Error saying what to set when no Redis is named
 */
export async function openChangeStream(config: Config, command: string): Promise<ChangeStream> {
  const urls = config.streamRedisUrls ?? config.redisUrls
  if (urls === undefined) {
    throw new Error(
      `"${command}" needs Redis, where the stream of changes is: set REDIS_URL, or STREAM_REDIS_URL where the stream has a Redis of its own`,
    )
  }
  const ca = readCaFile('REDIS_CA_FILE', config.redisCaFile)
  const { openRedisStream } = await import('./stores/redis/stream.ts')
  return openRedisStream({ urls, ca, prefix: config.redisPrefix })
}

/** Opens the stream of changes for whoever only looks; `null` where no Redis is named. */
export async function openStreamInspection(config: Config): Promise<StreamInspection | null> {
  const urls = config.streamRedisUrls ?? config.redisUrls
  if (urls === undefined) return null
  const ca = readCaFile('REDIS_CA_FILE', config.redisCaFile)
  const { openRedisStreamInspection } = await import('./stores/redis/stream-inspection.ts')
  return openRedisStreamInspection({ urls, ca, prefix: config.redisPrefix })
}

// What the settings do not name is not loaded: the clients take as long to load as all the rest.

async function openStores(config: Config, role: 'server' | 'command'): Promise<Stores> {
  const { opensearchUrls: urls, opensearchCaFile } = config
  if (urls === undefined) return openSqliteStores(config, role)
  const ca = readCaFile('OPENSEARCH_CA_FILE', opensearchCaFile)
  const { openOpenSearchStores } = await import('./stores/opensearch/stores.ts')
  return openOpenSearchStores({ urls, ca }, config)
}

async function openLimiter(config: Config, local: Limiter, events: SharedLimiterEvents) {
  if (config.redisUrls === undefined) return { limiter: local, close() {} }
  const { openSharedLimiter } = await import('./stores/redis/shared-limiter.ts')
  return openSharedLimiter(config, config.redisUrls, local, events)
}
