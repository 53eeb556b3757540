import type { ConnectionOptions } from 'node:tls'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { monotonicClock } from '../../lib/clock.ts'
import { errorText } from '../../lib/errors/error-text.ts'

export interface RedisConnectionOptions {
  /**
   * One `redis://` or `rediss://` URL, or several nodes of one cluster, which report the others.
   */
  urls: readonly string[]
  /** PEM of the certificate authorities that replace the default ones. */
  ca: string | undefined
  /** Receives the first error of an outage. */
  onError(error: Error): void
  /** {@link FAST} when absent. */
  timeouts?: Timeouts
}

/** Limits while there is no connection, in milliseconds. */
export interface Timeouts {
  /** How long `connectRedis` waits until Redis is ready. */
  startMs: number
  /** How long one connection attempt may take until Redis is ready, before a new attempt. */
  attemptMs: number
  connectMs: number
  /** For each node that is queried for the cluster's slots, one at a time. */
  slotsRefreshMs: number
}

export interface RedisConnection {
  redis: Redis | Cluster
  /** Replaces an unresponsive connection. */
  reconnect(): void
  /** Closes without waiting for Redis. */
  close(): void
}

/** For decisions that have a local fallback. */
const FAST: Timeouts = { startMs: 1_000, attemptMs: 500, connectMs: 400, slotsRefreshMs: 200 }
/** For work that requires Redis, possibly over a slow network. */
export const RELAXED: Timeouts = {
  startMs: 5_000,
  attemptMs: 5_000,
  connectMs: 4_000,
  slotsRefreshMs: 2_000,
}
const RECONNECT_DELAY_MS = 100
/** Errors closer together than this belong to one outage. */
const OUTAGE_GAP_MS = 10_000

/**
 * Opens a client that sends each command once, or rejects it immediately while disconnected. The
 * client reconnects until it is closed. Resolves when Redis is ready or after `startMs`; never
 * rejects because Redis is unavailable.
 */
export async function connectRedis({
  timeouts = FAST,
  ...options
}: RedisConnectionOptions): Promise<RedisConnection> {
  const redis = open(options, timeouts)
  let lastErrorAt = Number.NEGATIVE_INFINITY
  let isClosed = false

  function report(error: Error) {
    const now = monotonicClock()
    if (!isClosed && now - lastErrorAt > OUTAGE_GAP_MS) options.onError(redactCommand(error))
    lastErrorAt = now
  }
  redis.on('error', report)
  redis.on('node error', report)

  limitAttempts(redis, timeouts)
  redis.on('+node', (node) => limitAttempts(node, timeouts))
  await waitUntilReady(redis, timeouts)

  return {
    redis,

    reconnect() {
      // In any other state an attempt is already under way.
      if (redis.status === 'ready') redis.disconnect(true)
    },

    close() {
      isClosed = true
      redis.disconnect()
    },
  }
}

/** ioredis itself waits without limit for the first replies on a new connection. */
function limitAttempts(client: Redis | Cluster, { attemptMs }: Timeouts): void {
  let attempt: NodeJS.Timeout | undefined
  client.on('connecting', () => {
    clearTimeout(attempt)
    attempt = setTimeout(() => client.disconnect(true), attemptMs).unref()
  })
  client.on('ready', () => clearTimeout(attempt))
  client.on('close', () => clearTimeout(attempt))
}

async function waitUntilReady(redis: Redis | Cluster, { startMs }: Timeouts): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  redis.on('ready', async () => {
    await connectNodes(redis)
    resolve()
  })
  const timer = setTimeout(resolve, startMs)
  await promise
  clearTimeout(timer)
}

/** Connects to all nodes: the cluster client connects lazily, and the first command would fail. */
async function connectNodes(redis: Redis | Cluster): Promise<void> {
  if (!(redis instanceof Cluster)) return
  const unused = redis.nodes('master').filter(({ status }) => status === 'wait')
  await Promise.allSettled(unused.map((node) => node.connect()))
}

const nodeOptions = {
  // An unresponsive Redis does not reply to QUIT either.
  disconnectTimeout: 20,
  // While loading its data, Redis suggests a retry time that may be 10 s too late.
  maxLoadingRetryTime: RECONNECT_DELAY_MS,
  maxRetriesPerRequest: 0,
  // The primary became a replica: the host name now resolves to another machine.
  reconnectOnError: (error: Error) => error.message.includes('READONLY'),
} satisfies RedisOptions

type OpenOptions = Pick<RedisConnectionOptions, 'urls' | 'ca'>

function open({ urls, ca }: OpenOptions, timeouts: Timeouts): Redis | Cluster {
  const [first = '', ...others] = urls
  const tls = first.startsWith('rediss:') ? { tls: ca === undefined ? {} : { ca } } : {}
  return others.length === 0 ? openSingle(first, tls, timeouts) : openCluster(urls, tls, timeouts)
}

interface Tls {
  tls?: ConnectionOptions
}

function openSingle(url: string, tls: Tls, { connectMs }: Timeouts): Redis {
  return new Redis(url, {
    ...nodeOptions,
    ...tls,
    connectTimeout: connectMs,
    enableOfflineQueue: false,
    retryStrategy: () => RECONNECT_DELAY_MS,
  })
}

/** The credentials and the `family` of the first URL that has some are for all nodes. */
function openCluster(urls: readonly string[], tls: Tls, timeouts: Timeouts): Cluster {
  const nodes = urls.map((url) => new URL(url))
  const seeds = nodes.map(({ hostname, port }) => ({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 6379),
  }))
  const { username = '', password = '' } = nodes.find((node) => node.password !== '') ?? {}
  const family = nodes.map(({ searchParams }) => searchParams.get('family')).find(Boolean)
  return new Cluster(seeds, {
    redisOptions: {
      ...nodeOptions,
      ...tls,
      family: Number(family ?? 0),
      connectTimeout: timeouts.connectMs,
      username: decodeURIComponent(username),
      password: decodeURIComponent(password),
    },
    // Keep host names unresolved, because a certificate is valid for the name, not the address.
    dnsLookup: (hostname, found) => found(null, hostname),
    enableOfflineQueue: false,
    clusterRetryStrategy: () => RECONNECT_DELAY_MS,
    slotsRefreshTimeout: timeouts.slotsRefreshMs,
    maxRedirections: 4,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
  })
}

/**
 * Copies the message alone: ioredis errors hold the command with its arguments, such as a password
 * or IP address. The message for an unknown command quotes them too, so they are removed.
 */
export function redactCommand(error: unknown): Error {
  return new Error(errorText(error).replace(/, with args.*/s, ''))
}
