import { createKeyCache, type KeyCache, type KeyLookupOutcome } from './auth/key-cache.ts'
import { withPepperCheck } from './auth/pepper-check.ts'
import { readCaFile } from './config/ca-file.ts'
import { type Config, streamUrlsOf } from './config/config.ts'
import type { KafkaSettings } from './config/kafka.ts'
import { loadSecrets, type Secrets } from './config/secrets.ts'
import type { StreamInspection } from './indexing/consistency-check/stream-inspection.ts'
import type { ChangeStream } from './indexing/sources/change-stream.ts'
import { monotonicClock, wallClock } from './lib/clock.ts'
import { createUsageRecorder, type UsageRecorder } from './management/usage/usage-recorder.ts'
import { type CursorCodec, createCursorCodec } from './orders/cursor.ts'
import type { FallbackLimiter } from './rate-limit/fallback-limiter.ts'
import type { Limiter, LimiterDecision } from './rate-limit/limiter.ts'
import { createInstrumentedLimiter } from './rate-limit/limiter.ts'
import { createMemoryLimiter } from './rate-limit/memory-limiter.ts'
import { createSharedLimiter, type SharedLimiterEvents } from './rate-limit/shared-limiter.ts'
import type { IndexRecovery } from './stores/index-lost.ts'
import type { KafkaOptions } from './stores/kafka/connection.ts'
import type { OpenSearchEvents } from './stores/opensearch/stores.ts'
import { beginSqliteAfterLoss } from './stores/sqlite/database/database-files.ts'
import { openSqliteKeys, openSqliteStores } from './stores/sqlite/stores.ts'
import type { OnWarning, ProcessRole, Stores } from './stores/stores.ts'

// The stores of OpenSearch, Redis and Kafka are imported dynamically, where they are opened: their
// clients double the startup time of the embedded mode.

/** The open services that a command uses. */
export interface Services extends Stores, Secrets {}

/** The services that the commands for keys and accounts use. */
export type KeyServices = Pick<
  Services,
  'keys' | 'pepperCheck' | 'managementStores' | 'keyPepper' | 'assertSupported' | 'close'
>

/** The open services that the API server uses. */
export interface ServerServices extends Services {
  keyCache: KeyCache
  limiter: Limiter
  /** Whether this process counts locally, because the shared counters are unavailable. */
  isLimiterDegraded(): Promise<boolean>
  cursors: CursorCodec
  /** Closing the services stores the last counts. */
  usage: UsageRecorder
}

/** Callbacks that metrics and traces attach to the services. */
export interface ServiceEvents
  extends OpenSearchEvents,
    Pick<SharedLimiterEvents, 'instrumentCounters' | 'onFallbackDecision'> {
  onDecision(decision: LimiterDecision, isAllowed: boolean): void
  onKeyLookup(result: KeyLookupOutcome): void
  /** Receives the first of failed flushes in a row of the usage of keys, which are repeated. */
  onUsageFailure?(error: unknown): void
  onUsageRecovered?(): void
  onWarning?: OnWarning
}

/** Opens the configured services. */
export async function openServices(
  config: Config,
  role: ProcessRole = 'command',
  onWarning?: OnWarning,
  events?: OpenSearchEvents,
): Promise<Services> {
  const stores = await openStores(config, role, onWarning, events)
  const secrets = loadSecrets(config)
  return { ...stores, ...secrets, keys: withPepperCheck(stores.keys, { ...stores, ...secrets }) }
}

/** Opens keys and accounts alone, so that a key can be revoked even after the index was lost. */
export async function openKeyServices(config: Config, onWarning?: OnWarning): Promise<KeyServices> {
  if (config.opensearchUrls !== undefined) return openServices(config)
  const { keyPepper } = loadSecrets(config)
  const stores = openSqliteKeys(config, onWarning)
  return { ...stores, keyPepper, keys: withPepperCheck(stores.keys, { ...stores, keyPepper }) }
}

/** Creates an empty index in place of a lost one. @throws Error when none is lost */
export async function initAfterLoss(config: Config): Promise<IndexRecovery> {
  const { opensearchUrls: urls, opensearchCaFile, dataDir } = config
  if (urls === undefined) return beginSqliteAfterLoss(dataDir)
  const ca = readCaFile('OPENSEARCH_CA_FILE', opensearchCaFile)
  const { initIndexAfterLoss } = await import('./stores/opensearch/stores.ts')
  return initIndexAfterLoss({ urls, ca }, config)
}

/** Opens the configured services for the API server. Redis may be unavailable. */
export async function openServerServices(
  config: Config,
  events: ServiceEvents & SharedLimiterEvents,
): Promise<ServerServices> {
  const services = await openServices(config, 'server', events.onWarning, events)
  const local = createMemoryLimiter(config.rateLimit, monotonicClock)
  const limiter = await openLimiter(config, local, events)

  const usage = createUsageRecorder({
    store: services.managementStores.usage,
    clock: wallClock,
    onFailure: (error) => events.onUsageFailure?.(error),
    onRecovered: () => events.onUsageRecovered?.(),
  })

  return {
    ...services,
    usage,
    keyCache: createKeyCache(services.keys, monotonicClock, events.onKeyLookup),
    limiter: createInstrumentedLimiter(limiter, events.onDecision),
    isLimiterDegraded: limiter.isDegraded,
    cursors: createCursorCodec(services.cursorSecrets),
    async close() {
      limiter.close()
      await usage.close()
      await services.close()
    },
  }
}

/**
 * Opens the change stream for the given command. Redis or Kafka may be unavailable. `onWarning`
 * receives what an operator should correct.
 * @throws Error when none is configured, with the settings to add
 */
export async function openChangeStream(
  config: Config,
  command: string,
  onWarning?: OnWarning,
): Promise<ChangeStream> {
  if (config.kafka !== undefined) {
    const { openKafkaStream } = await import('./stores/kafka/stream.ts')
    return openKafkaStream(kafkaOptions(config.kafka))
  }
  const urls = streamUrlsOf(config)
  if (urls === undefined) {
    throw new Error(
      `"${command}" needs Redis or Kafka for the change stream, and none is configured: set REDIS_URL, or STREAM_REDIS_URL if the stream uses a separate Redis, or KAFKA_BROKERS`,
    )
  }
  const ca = readCaFile('REDIS_CA_FILE', config.redisCaFile)
  const { openRedisStream } = await import('./stores/redis/stream.ts')
  return openRedisStream({ urls, ca, prefix: config.redisPrefix, onWarning })
}

/**
 * Opens the change stream of orders that this service takes; `null` where it writes them itself. An
 * embedded store has no `index watch` beside `serve` by default.
 */
export async function openIngestionStream(
  config: Config,
  onWarning?: OnWarning,
): Promise<ChangeStream | null> {
  const hasStream = config.kafka !== undefined || streamUrlsOf(config) !== undefined
  return config.opensearchUrls !== undefined && hasStream
    ? await openChangeStream(config, 'POST /v1/source-orders', onWarning)
    : null
}

/** Opens the change stream read-only; `null` when none is configured. */
export async function openStreamInspection(config: Config): Promise<StreamInspection | null> {
  if (config.kafka !== undefined) {
    const { openKafkaStreamInspection } = await import('./stores/kafka/stream-inspection.ts')
    return openKafkaStreamInspection(kafkaOptions(config.kafka))
  }
  const urls = streamUrlsOf(config)
  if (urls === undefined) return null
  const ca = readCaFile('REDIS_CA_FILE', config.redisCaFile)
  const { openRedisStreamInspection } = await import('./stores/redis/stream-inspection.ts')
  return openRedisStreamInspection({ urls, ca, prefix: config.redisPrefix })
}

function kafkaOptions({ caFile, tls, ...settings }: KafkaSettings): KafkaOptions {
  const ca = readCaFile('KAFKA_CA_FILE', caFile)
  return { ...settings, tls: tls ? { ca } : undefined }
}

async function openStores(
  config: Config,
  role: ProcessRole,
  onWarning: OnWarning | undefined,
  events: OpenSearchEvents | undefined,
): Promise<Stores> {
  const { opensearchUrls: urls, opensearchCaFile } = config
  if (urls === undefined) return openSqliteStores(config, role, onWarning)
  const ca = readCaFile('OPENSEARCH_CA_FILE', opensearchCaFile)
  const { openOpenSearchStores } = await import('./stores/opensearch/stores.ts')
  return openOpenSearchStores({ urls, ca }, config, events)
}

async function openLimiter(
  config: Config,
  local: Limiter,
  events: SharedLimiterEvents,
): Promise<FallbackLimiter> {
  const { redisUrls: urls, redisCaFile, redisPrefix: prefix, rateLimit: rate } = config
  if (urls === undefined) return { ...local, isDegraded: async () => false, close() {} }
  const ca = readCaFile('REDIS_CA_FILE', redisCaFile)
  const { openRedisCounters } = await import('./stores/redis/shared-counters.ts')
  const connected = await openRedisCounters({ urls, ca, prefix, onError: events.onDegraded })
  return createSharedLimiter(connected, { ...events, rate, local })
}
