import { isHost } from '../lib/host.ts'
import { parseTracing } from '../observability/tracing/settings.ts'
import type { CursorSecret } from '../orders/cursor.ts'
import { parseTrustedProxies } from './trusted-proxies.ts'

/** The settings of the service (`.env.example` documents each): parsed once, frozen, handed down. */
export type Config = ReturnType<typeof parseConfig>

/** Everything that is wrong with the settings, at once. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`the settings cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.name = 'ConfigError'
  }
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/**
 * Reads the environment. An empty variable counts as unset.
 * @throws ConfigError naming every bad variable and what was expected of it
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>) {
  const problems: string[] = []

  /** `parse` answers `undefined` for a text it cannot use. */
  function read<T, D>(
    name: string,
    parse: (text: string) => T | undefined,
    expected: string,
    fallback: D,
  ): T | D {
    const text = env[name]
    if (text === undefined || text === '') return fallback
    const value = parse(text)
    if (value !== undefined) return value
    problems.push(`${name}: ${expected}`)
    return fallback
  }
  const number = (name: string, from: number, to: number, fallback: number) =>
    read(name, integer(from, to), `expected an integer from ${from} to ${to}`, fallback)

  const config = {
    host: read('HOST', host, HOST_HELP, '127.0.0.1'),
    port: number('PORT', 0, 65_535, 3000),
    /** `undefined`: the default, which may be taken; a port that was asked for may not. */
    operationsPort: read(
      'OPERATIONS_PORT',
      integer(0, 65_535),
      'expected an integer from 0 to 65535',
      undefined,
    ),
    dataDir: read('DATA_DIR', text, '', './data'),
    /** The nodes of the cluster; `undefined`: the embedded store. */
    opensearchUrls: read('OPENSEARCH_URL', urls(['http:', 'https:']), OPENSEARCH_HELP, undefined),
    opensearchCaFile: read('OPENSEARCH_CA_FILE', text, '', undefined),
    indexPrefix: read('INDEX_PREFIX', matching(/^[a-z0-9][a-z0-9_-]{0,199}$/), PREFIX_HELP, ''),
    requestDeadlineMs: number('REQUEST_DEADLINE_MS', 100, 60_000, 2_500),
    searchDeadlineMs: number('SEARCH_DEADLINE_MS', 100, 60_000, 2_000),
    bulkDeadlineMs: number('BULK_DEADLINE_MS', 1_000, 600_000, 30_000),
    writerLeaseMs: number('WRITER_LEASE_MS', 500, 600_000, 10_000),
    /** One node, or several of one Redis Cluster; `undefined`: counters in this process. */
    redisUrls: read('REDIS_URL', urls(['redis:', 'rediss:']), REDIS_HELP, undefined),
    streamRedisUrls: read('STREAM_REDIS_URL', urls(['redis:', 'rediss:']), REDIS_HELP, undefined),
    redisCaFile: read('REDIS_CA_FILE', text, '', undefined),
    redisPrefix: read('REDIS_PREFIX', matching(/^[^{}\s]+$/), 'expected no braces or spaces', ''),
    cursorSecrets: read('CURSOR_SECRETS', parseCursorSecrets, SECRETS_HELP, undefined),
    keyPepper: read('KEY_PEPPER', parseSecret, 'expected base64 of at least 32 bytes', undefined),
    trustProxy: trustedProxies(env['TRUST_PROXY'], problems),
    workers: number('WORKERS', 1, 64, 1),
    maxConcurrentRequests: number('MAX_CONCURRENT_REQUESTS', 1, 10_000, 256),
    logLevel: read(
      'LOG_LEVEL',
      oneOf(logLevels),
      `expected one of ${logLevels.join(', ')}`,
      'info',
    ),
    /** `undefined`: no traces. */
    tracing: parseTracing(env, problems),
    rateLimit: {
      capacity: number('RATE_LIMIT_CAPACITY', 1, 1_000_000, 20),
      refillPerSecond: number('RATE_LIMIT_REFILL_PER_SECOND', 1, 1_000_000, 10),
    },
  }
  // Only a PORT that is set: commands that do not serve may use the default for their operations.
  if (env['PORT'] && config.port !== 0 && config.port === config.operationsPort) {
    problems.push('OPERATIONS_PORT: expected another port than PORT')
  }
  if (config.workers > 1 && !env['REDIS_URL']) {
    // An account would have a bucket in each of them, and get so many times the rate.
    problems.push('WORKERS: more than 1 needs REDIS_URL, where they share the counters of limits')
  }
  if (config.opensearchUrls) {
    // Made up here they would differ from process to process, and be gone with the machine.
    const required = { CURSOR_SECRETS: config.cursorSecrets, KEY_PEPPER: config.keyPepper }
    for (const [name, value] of Object.entries(required)) {
      if (value === undefined && !env[name]) problems.push(`${name}: required with OPENSEARCH_URL`)
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(config)
}

const HOST_HELP = 'expected an address or a host name, without protocol, port and brackets'
const PREFIX_HELP =
  'expected at most 200 lower-case letters, digits, "_" and "-", and a letter or digit first'
const CIDR_HELP =
  'expected addresses or networks separated by commas, such as 10.0.0.0/8,::1, of /8 or smaller for IPv4 and /16 or smaller for IPv6; never "true" or a count'
const SECRETS_HELP =
  'expected kid:base64 pairs separated by commas, the first signs; a kid of 1 to 16 letters, digits, "_" or "-", each once; secrets of at least 32 bytes'
const OPENSEARCH_HELP =
  'expected nodes separated by commas, each once, such as https://user:password@search-1:9200,https://search-2:9200, user and password percent-encoded, without query or fragment'
const REDIS_HELP =
  'expected redis://host:6379 or rediss://user:password@host:6379, or several nodes of one Redis Cluster separated by commas, each once; no query but ?family=0, 4 or 6'
const MIN_SECRET_BYTES = 32

const text = (value: string) => value

const host = (value: string) => (isHost(value) ? value : undefined)

const integer = (from: number, to: number) => (value: string) => {
  const parsed = /^\d{1,9}$/.test(value) ? Number(value) : -1
  return parsed >= from && parsed <= to ? parsed : undefined
}

/** URLs separated by commas, all of one protocol, each host once. */
const urls = (protocols: readonly string[]) => (value: string) => {
  const parts = value.split(',')
  const nodes = parts.map((part) => URL.parse(part.trim())).filter((url) => url !== null)
  const isKnown = nodes.every((url) => protocols.includes(url.protocol) && isAddress(url))
  const isSame = new Set(nodes.map(({ protocol }) => protocol)).size === 1
  const isDistinct = new Set(nodes.map(({ host }) => host)).size === parts.length
  // A cluster of Redis has no numbered databases.
  const isClusterSafe = nodes.length === 1 || !nodes.some(isNumberedDatabase)
  return isKnown && isSame && isDistinct && isClusterSafe
    ? nodes.map(({ href }) => href)
    : undefined
}

/** A host, and credentials that can be decoded and are complete: Redis alone takes a password without a name. */
function isAddress(url: URL): boolean {
  const { protocol, hostname, pathname, username, password } = url
  const isRedis = protocol.startsWith('redis')
  // The clients take options out of a query, and fail later over them; Redis hosts with IPv6 alone need this one.
  const isPlain = url.search === '' || (isRedis && /^\?family=[046]$/.test(url.search))
  if (!isPlain || url.hash !== '' || url.port === '0') return false
  const hasCompleteCredentials = username === '' ? isRedis || password === '' : password !== ''
  // The path of a Redis is the number of its database.
  if (hostname === '' || !hasCompleteCredentials || (isRedis && !/^(\/\d{0,4})?$/.test(pathname)))
    return false
  try {
    decodeURIComponent(username + password)
    return true
  } catch {
    return false
  }
}

const isNumberedDatabase = ({ protocol, pathname }: URL) =>
  protocol.startsWith('redis') && /[1-9]/.test(pathname)

const matching = (pattern: RegExp) => (value: string) => (pattern.test(value) ? value : undefined)

const oneOf =
  <T extends string>(values: readonly T[]) =>
  (value: string) =>
    values.find((known) => known === value)

/** Base64 of at least 32 bytes. */
export function parseSecret(value: string): Buffer | undefined {
  const bytes = Buffer.from(value, 'base64')
  const isBase64 = bytes.toString('base64').replace(/=+$/, '') === value.replace(/=+$/, '')
  return isBase64 && bytes.length >= MIN_SECRET_BYTES ? bytes : undefined
}

/** A list `kid:base64,kid:base64`; at least one, each kid once. */
export function parseCursorSecrets(value: string): [CursorSecret, ...CursorSecret[]] | undefined {
  const pairs = value.split(',').map((pair) => {
    const [, kid = '', base64 = ''] = /^([A-Za-z0-9_-]{1,16}):(.+)$/.exec(pair.trim()) ?? []
    return { kid, secret: parseSecret(base64) }
  })
  const usable = pairs.flatMap(({ kid, secret }) => (secret ? [{ kid, secret }] : []))
  const distinct = new Set(usable.map(({ kid }) => kid)).size === pairs.length
  const [first, ...others] = usable
  return first && distinct ? [first, ...others] : undefined
}

function trustedProxies(list: string | undefined, problems: string[]): string[] {
  if (!list) return []
  const { networks, errors } = parseTrustedProxies(list)
  if (errors.length > 0) problems.push(`TRUST_PROXY: ${errors.join('; ')}; ${CIDR_HELP}`)
  return networks
}
