import type { ConnectionOptions } from 'node:tls'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { monotonicClock } from '../../lib/clock.ts'

export interface RedisConnectionOptions {
  /** One `redis://` or `rediss://`, or several nodes of one cluster, from which it learns the others. */
  urls: readonly string[]
  /** PEM of the authorities to trust instead of the usual ones. */
  ca: string | undefined
  /** Told of the first error of an outage. */
  onError(error: Error): void
  /** {@link FAST} when absent. */
  timeouts?: Timeouts
}

/** How long things may take while there is no connection, in milliseconds. */
export interface Timeouts {
  /** How long to wait for a Redis that can be used before going on without it. */
  startMs: number
  /** How long it may take until Redis can be used, before it is tried anew. */
  attemptMs: number
  connectMs: number
  /** For each node that is asked for the others, one after the other. */
  slotsRefreshMs: number
}

export interface RedisConnection {
  redis: Redis | Cluster
  /** Gives up a connection that says nothing any more, for a new one. */
  reconnect(): void
  /** At once, whatever Redis does. */
  close(): void
}

/** For decisions that are made without Redis when it is late. */
const FAST: Timeouts = { startMs: 1_000, attemptMs: 500, connectMs: 400, slotsRefreshMs: 200 }
/** For what cannot be done without Redis, which may be far away. */
export const RELAXED: Timeouts = {
  startMs: 5_000,
  attemptMs: 5_000,
  connectMs: 4_000,
  slotsRefreshMs: 2_000,
}
const RECONNECT_DELAY_MS = 100
/** Errors closer together than this are of one outage. */
const OUTAGE_GAP_MS = 10_000

/**
 * A client whose commands are sent at once or fail at once, and are never sent again. It keeps on
 * connecting for as long as it is open. Resolves when Redis can be used, or when it has taken too long;
 * never rejects because Redis is not there.
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
      // Other states are attempts already.
      if (redis.status === 'ready') redis.disconnect(true)
    },

    close() {
      isClosed = true
      redis.disconnect()
    },
  }
}

/** By itself a client that is connected waits for the first answers for ever, and so does a cluster's. */
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

/** A cluster's client would connect to a node with the first command for it, which then fails. */
async function connectNodes(redis: Redis | Cluster): Promise<void> {
  if (!(redis instanceof Cluster)) return
  const unused = redis.nodes('master').filter(({ status }) => status === 'wait')
  await Promise.allSettled(unused.map((node) => node.connect()))
}

const nodeOptions = {
  // A Redis that does not answer does not say goodbye either.
  disconnectTimeout: 20,
  // While Redis loads its data it says when it will be done, which may be 10 s too late.
  maxLoadingRetryTime: RECONNECT_DELAY_MS,
  maxRetriesPerRequest: 0,
  // A primary that became a replica: the same name leads to another machine now.
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

/** The credentials of the first node are those of all. */
function openCluster(urls: readonly string[], tls: Tls, timeouts: Timeouts): Cluster {
  const nodes = urls.map((url) => new URL(url))
  const seeds = nodes.map(({ hostname, port }) => ({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 6379),
  }))
  const { username = '', password = '' } = nodes[0] ?? {}
  return new Cluster(seeds, {
    redisOptions: {
      ...nodeOptions,
      ...tls,
      connectTimeout: timeouts.connectMs,
      username: decodeURIComponent(username),
      password: decodeURIComponent(password),
    },
    // Names stay names: a certificate is for a name, not for the address behind it.
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
 * The client's errors carry the command with its arguments, a password or an address among them; so does
 * the message where a server does not know the command.
 */
export function redactCommand(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error)
  return new Error(message.replace(/, with args.*/s, ''))
}
