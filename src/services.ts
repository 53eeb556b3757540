import { createKeyCache, type KeyCache, type KeyLookupOutcome } from './auth/key-cache.ts'
import { readCaFile } from './config/ca-file.ts'
import type { Config } from './config/config.ts'
import { loadSecrets } from './config/secrets.ts'
import type { StreamInspection } from './indexing/consistency-check/stream-inspection.ts'
import type { ChangeStream } from './indexing/sources/change-stream.ts'
import { monotonicClock } from './lib/clock.ts'
import { type CursorCodec, createCursorCodec } from './orders/cursor.ts'
import type { FallbackLimiter, LimiterDecision } from './rate-limit/fallback-limiter.ts'
import { createInstrumentedLimiter } from './rate-limit/instrumented-limiter.ts'
import type { Limiter } from './rate-limit/limiter.ts'
import { createMemoryLimiter } from './rate-limit/memory-limiter.ts'
import type { IndexRecovery } from './stores/index-lost.ts'
import type { OpenSearchEvents } from './stores/opensearch/stores.ts'
import type { SharedLimiterEvents } from './stores/redis/shared-limiter.ts'
import { beginSqliteAfterLoss } from './stores/sqlite/database/after-loss.ts'
import { openSqliteKeys, openSqliteStores } from './stores/sqlite/stores.ts'
import type { Stores } from './stores/stores.ts'

/** What a command works with, opened. */
export interface Services extends Stores {
  keyPepper: Uint8Array
}

/** What of it the commands on keys and accounts need. */
export type KeyServices = Pick<Services, 'keys' | 'keyPepper' | 'close'>

/** What the server works with besides. */
export interface ServerServices extends Services {
  keyCache: KeyCache
  limiter: Limiter
  /** Whether limits count in this process alone although they should be shared. */
  isLimiterDegraded(): Promise<boolean>
  cursors: CursorCodec
}

/** What is measured of the services while they serve. */
export interface ServiceEvents
  extends OpenSearchEvents,
    Pick<SharedLimiterEvents, 'instrumentRedis' | 'onFallbackDecision'> {
  onDecision(decision: LimiterDecision, isAllowed: boolean): void
  onKeyLookup(result: KeyLookupOutcome): void
}

/** Opens the services that the settings name, for a command. */
export async function openServices(
  config: Config,
  role: 'server' | 'command' = 'command',
  events?: OpenSearchEvents,
): Promise<Services> {
  const { keyPepper } = loadSecrets(config)
  return { ...(await openStores(config, role, events)), keyPepper }
}

/** Opens keys and accounts alone, for a command: a key can be revoked also where the index is lost. */
export async function openKeyServices(config: Config): Promise<KeyServices> {
  if (config.opensearchUrls !== undefined) return openServices(config)
  const { keyPepper } = loadSecrets(config)
  return { ...openSqliteKeys(config), keyPepper }
}

/** Begins with an empty index where that of the orders was lost. @throws Error where it was not */
export async function initAfterLoss(config: Config): Promise<IndexRecovery> {
  const { opensearchUrls: urls, opensearchCaFile, dataDir } = config
  if (urls === undefined) return beginSqliteAfterLoss(dataDir)
  const ca = readCaFile('OPENSEARCH_CA_FILE', opensearchCaFile)
  const { initIndexAfterLoss } = await import('./stores/opensearch/stores.ts')
  return initIndexAfterLoss({ urls, ca }, config)
}

/** Opens the services that the settings name, to serve with. Redis need not be there yet. */
export async function openServerServices(
  config: Config,
  events: ServiceEvents & SharedLimiterEvents,
): Promise<ServerServices> {
  const { cursorSecrets } = loadSecrets(config)
  const services = await openServices(config, 'server', events)
  const local = createMemoryLimiter(config.rateLimit, monotonicClock)
  const limiter = await openLimiter(config, local, events)

  return {
    ...services,
    keyCache: createKeyCache(services.keys, monotonicClock, events.onKeyLookup),
    limiter: createInstrumentedLimiter(limiter, events.onDecision),
    isLimiterDegraded: limiter.isDegraded,
    cursors: createCursorCodec(cursorSecrets),
    async close() {
      limiter.close()
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

async function openStores(
  config: Config,
  role: 'server' | 'command',
  events: OpenSearchEvents | undefined,
): Promise<Stores> {
  const { opensearchUrls: urls, opensearchCaFile } = config
  if (urls === undefined) return openSqliteStores(config, role)
  const ca = readCaFile('OPENSEARCH_CA_FILE', opensearchCaFile)
  const { openOpenSearchStores } = await import('./stores/opensearch/stores.ts')
  return openOpenSearchStores({ urls, ca }, config, events)
}

async function openLimiter(
  config: Config,
  local: Limiter,
  events: SharedLimiterEvents,
): Promise<FallbackLimiter> {
  if (config.redisUrls === undefined) return { ...local, isDegraded: async () => false, close() {} }
  const { openSharedLimiter } = await import('./stores/redis/shared-limiter.ts')
  return openSharedLimiter(config, config.redisUrls, local, events)
}
