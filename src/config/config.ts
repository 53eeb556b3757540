import { createEnvironmentReader, type Environment } from './environment.ts'
import { parseKafka } from './kafka.ts'
import {
  host,
  matching,
  PATH_HELP,
  parseManagementTokens,
  parseNamedSecrets,
  parseSecret,
  path,
  urls,
  webOrigin,
} from './parsers.ts'
import { parseTracing } from './tracing.ts'
import { parseTrustedProxies } from './trusted-proxies.ts'
import { parseWebhooks } from './webhooks.ts'

/** The settings of the service, parsed once and frozen. `.env.example` documents each one. */
export type Config = ReturnType<typeof parseConfig>

/** Lists all invalid settings at once. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(
      `invalid settings; correct these and start again:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    )
    this.name = 'ConfigError'
  }
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/**
 * Reads the environment. An empty variable counts as unset.
 * @throws ConfigError with every invalid variable and its expected format
 */
export function parseConfig(env: Environment) {
  const problems: string[] = []

  const { read, readInteger, readOneOf, readNetworks } = createEnvironmentReader(env, problems)
  /** `undefined`: not set. */
  const optionalPort = (name: string) => readInteger(name, 0, 65_535, undefined)
  const requestDeadlineMs = readInteger('REQUEST_DEADLINE_MS', 100, 60_000, 2_500)
  const searchDeadlineMs = readInteger('SEARCH_DEADLINE_MS', 100, 60_000, 2_000)

  const config = {
    host: read('HOST', host, HOST_HELP, '127.0.0.1'),
    port: readInteger('PORT', 0, 65_535, 3000),
    /** `undefined`: the default port. Only then may the service start without that port. */
    operationsPort: optionalPort('OPERATIONS_PORT'),
    /** `undefined`: there is no management API. */
    managementPort: optionalPort('MANAGEMENT_PORT'),
    managementTokens: read('MANAGEMENT_TOKENS', parseManagementTokens, TOKENS_HELP, []),
    /** `undefined`: there is no console. */
    consolePort: optionalPort('CONSOLE_PORT'),
    /** The origin of the links to the console; `undefined`: its port on this machine. */
    consoleUrl: read('CONSOLE_URL', webOrigin, CONSOLE_URL_HELP, undefined),
    dataDir: read('DATA_DIR', path, PATH_HELP, './data'),
    /** Nodes of the OpenSearch cluster; `undefined`: the embedded store. */
    opensearchUrls: read('OPENSEARCH_URL', urls(['http:', 'https:']), OPENSEARCH_HELP, undefined),
    opensearchCaFile: read('OPENSEARCH_CA_FILE', path, PATH_HELP, undefined),
    indexPrefix: read('INDEX_PREFIX', matching(/^[a-z0-9][a-z0-9_-]{0,199}$/), PREFIX_HELP, ''),
    /** Primary shards of the indices of orders and version records, where they are created. */
    ordersShards: readInteger('ORDERS_SHARDS', 1, MAX_SHARDS, 1),
    requestDeadlineMs,
    /**
     * Only a call that had all of it shows that a node does not respond, so a request is longer.
     */
    searchDeadlineMs: Math.min(searchDeadlineMs, Math.floor(requestDeadlineMs * MAX_SEARCH_SHARE)),
    bulkDeadlineMs: readInteger('BULK_DEADLINE_MS', 1_000, 600_000, 30_000),
    writerLeaseMs: readInteger('WRITER_LEASE_MS', 500, 600_000, 10_000),
    /** One node, or several nodes of one Redis Cluster; `undefined`: in-memory counters. */
    redisUrls: read('REDIS_URL', urls(['redis:', 'rediss:']), REDIS_HELP, undefined),
    streamRedisUrls: read('STREAM_REDIS_URL', urls(['redis:', 'rediss:']), REDIS_HELP, undefined),
    /** `undefined`: the change stream is in Redis, or there is none. */
    kafka: parseKafka(env, problems),
    redisCaFile: read('REDIS_CA_FILE', path, PATH_HELP, undefined),
    redisPrefix: read('REDIS_PREFIX', matching(/^[^{}\s]+$/), 'expected no braces or spaces', ''),
    cursorSecrets: read('CURSOR_SECRETS', parseNamedSecrets, SECRETS_HELP, undefined),
    keyPepper: read('KEY_PEPPER', parseSecret, 'expected base64 of at least 32 bytes', undefined),
    /** Derive the secrets of webhook endpoints. Without them, only webhooks are unavailable. */
    webhookSecrets: read('WEBHOOK_SECRETS', parseNamedSecrets, SECRETS_HELP, undefined),
    trustProxy: readNetworks('TRUST_PROXY', parseTrustedProxies, CIDR_HELP),
    workers: readInteger('WORKERS', 1, 64, 1),
    maxConcurrentRequests: readInteger('MAX_CONCURRENT_REQUESTS', 1, 10_000, 256),
    logLevel: readOneOf('LOG_LEVEL', logLevels, 'info'),
    /** `undefined`: tracing is off. */
    tracing: parseTracing(env, problems),
    rateLimit: {
      capacity: readInteger('RATE_LIMIT_CAPACITY', 1, 1_000_000, 20),
      refillPerSecond: readInteger('RATE_LIMIT_REFILL_PER_SECOND', 1, 1_000_000, 10),
    },
    webhooks: parseWebhooks(env, problems),
  }
  problems.push(...portConflicts(env, config), ...caFileProblems(config))
  if (config.workers > 1 && !env['REDIS_URL']) {
    // With separate buckets, an account would get the rate limit once per worker.
    problems.push(
      'WORKERS: more than 1 needs REDIS_URL, because workers share their rate-limit counters there',
    )
  }
  if (config.opensearchUrls) {
    // Generated secrets would differ between processes and disappear with the machine.
    const required = { CURSOR_SECRETS: config.cursorSecrets, KEY_PEPPER: config.keyPepper }
    for (const [name, value] of Object.entries(required)) {
      if (value === undefined && !env[name]) problems.push(`${name}: required with OPENSEARCH_URL`)
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(config)
}

const MAX_SEARCH_SHARE = 0.8

/** Each shard is an index of its own, with memory and files. */
export const MAX_SHARDS = 64

/** The nodes of the Redis of the change stream; `undefined`: there is none. */
export function streamUrlsOf({
  streamRedisUrls,
  redisUrls,
}: Pick<Config, 'streamRedisUrls' | 'redisUrls'>): string[] | undefined {
  return streamRedisUrls ?? redisUrls
}

/** Each port that an earlier setting has too. */
function portConflicts(
  env: Environment,
  config: Record<'port', number> &
    Record<'operationsPort' | 'managementPort' | 'consolePort', number | undefined>,
): string[] {
  const ports: [name: string, port: number | undefined][] = [
    // Only if PORT is set: other commands may use its default as their operations port.
    ['PORT', env['PORT'] ? config.port : undefined],
    ['OPERATIONS_PORT', config.operationsPort],
    ['MANAGEMENT_PORT', config.managementPort],
    ['CONSOLE_PORT', config.consolePort],
  ]
  return ports.flatMap(([name, port], at) => {
    const earlier = ports.slice(0, at).find(([, other]) => other === port)
    return port && earlier ? [`${name}: expected a port other than ${earlier[0]}`] : []
  })
}

type CaFileSettings = Pick<
  Config,
  'opensearchCaFile' | 'opensearchUrls' | 'redisCaFile' | 'redisUrls' | 'streamRedisUrls'
>

/** For each CA file that no connection uses: without TLS, it would silently be in plain text. */
function caFileProblems({
  opensearchCaFile,
  opensearchUrls = [],
  redisCaFile,
  redisUrls = [],
  streamRedisUrls = [],
}: CaFileSettings): string[] {
  const redis = [...redisUrls, ...streamRedisUrls]
  const files = [
    ['OPENSEARCH_CA_FILE', opensearchCaFile, opensearchUrls, 'https:', 'OPENSEARCH_URL'],
    ['REDIS_CA_FILE', redisCaFile, redis, 'rediss:', 'REDIS_URL or STREAM_REDIS_URL'],
  ] as const
  return files.flatMap(([name, file, urls, protocol, settings]) => {
    const hasTls = urls.some((url) => url.startsWith(protocol))
    if (file === undefined || urls.length === 0 || hasTls) return []
    return [
      `${name}: expected ${protocol}// in ${settings}, because other connections have no TLS; correct the URL or remove ${name}`,
    ]
  })
}

const HOST_HELP = 'expected an address or a host name, without protocol, port and brackets'
const PREFIX_HELP =
  'expected at most 200 lower-case letters, digits, "_" and "-", and a letter or digit first'
const CIDR_HELP =
  'expected addresses or networks separated by commas, such as 10.0.0.0/8,::1, of /8 or smaller for IPv4 and /16 or smaller for IPv6; never "true" or a count'
const TOKENS_HELP =
  'expected name:role:sha256 entries separated by commas, names and digests each once; a name of 1 to 64 letters, digits, "_" or "-"; the role admin or read; the SHA-256 of the token as 64 lower-case hexadecimal digits'
const CONSOLE_URL_HELP =
  'expected the origin of the console, such as https://console.example, without path'
const SECRETS_HELP =
  'expected kid:base64 pairs separated by commas, the first signs; a kid of 1 to 16 letters, digits, "_" or "-", each once; secrets of at least 32 bytes'
const OPENSEARCH_HELP =
  'expected nodes separated by commas, each once, such as https://user:password@search-1:9200,https://search-2:9200, user and password percent-encoded, without query or fragment'
const REDIS_HELP =
  'expected redis://host:6379 or rediss://user:password@host:6379, or several nodes of one Redis Cluster separated by commas, each once; no query but ?family=0, 4 or 6'
