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
}

export interface RedisConnection {
  redis: Redis | Cluster
  /** Gives up a connection that says nothing any more, for a new one. */
  reconnect(): void
  /** At once, whatever Redis does. */
  close(): void
}

const START_MS = 1_000
/** How long it may take until Redis can be used, before it is tried anew. */
const ATTEMPT_MS = 500
const CONNECT_MS = 400
const RECONNECT_DELAY_MS = 100
/** Errors closer together than this are of one outage. */
const OUTAGE_GAP_MS = 10_000

/**
 * A client for decisions that nobody waits for: a command is sent at once or fails at once, and is never
 * sent again. It keeps on connecting for as long as it is open. Resolves when Redis can be used, or after
 * a second without it; never rejects because Redis is not there.
 */
export async function connectRedis(options: RedisConnectionOptions): Promise<RedisConnection> {
  const redis = open(options)
  let lastErrorAt = Number.NEGATIVE_INFINITY
  let isClosed = false

  function report(error: Error) {
    const now = monotonicClock()
    if (!isClosed && now - lastErrorAt > OUTAGE_GAP_MS) options.onError(withoutCommand(error))
    lastErrorAt = now
  }
  redis.on('error', report)
  redis.on('node error', report)

  limitAttempts(redis)
  redis.on('+node', limitAttempts)
  await becomesReady(redis)

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
function limitAttempts(client: Redis | Cluster): void {
  let attempt: NodeJS.Timeout | undefined
  client.on('connecting', () => {
    clearTimeout(attempt)
    attempt = setTimeout(() => client.disconnect(true), ATTEMPT_MS).unref()
  })
  client.on('ready', () => clearTimeout(attempt))
  client.on('close', () => clearTimeout(attempt))
}

async function becomesReady(redis: Redis | Cluster): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  redis.on('ready', async () => {
    await connectNodes(redis)
    resolve()
  })
  const patience = setTimeout(resolve, START_MS)
  await promise
  clearTimeout(patience)
}

/** A cluster's client would connect to a node with the first command for it, which then fails. */
async function connectNodes(redis: Redis | Cluster): Promise<void> {
  if (!(redis instanceof Cluster)) return
  const unused = redis.nodes('master').filter(({ status }) => status === 'wait')
  await Promise.allSettled(unused.map((node) => node.connect()))
}

const nodeOptions = {
  connectTimeout: CONNECT_MS,
  // A Redis that does not answer does not say goodbye either.
  disconnectTimeout: 20,
  // While Redis loads its data it says when it will be done, which may be 10 s too late.
  maxLoadingRetryTime: RECONNECT_DELAY_MS,
  maxRetriesPerRequest: 0,
  // A primary that became a replica: the same name leads to another machine now.
  reconnectOnError: (error: Error) => error.message.includes('READONLY'),
} satisfies RedisOptions

function open({ urls, ca }: RedisConnectionOptions): Redis | Cluster {
  const [first = '', ...others] = urls
  const tls = first.startsWith('rediss:') ? { tls: ca === undefined ? {} : { ca } } : {}
  return others.length === 0 ? openOne(first, tls) : openCluster(urls, tls)
}

function openOne(url: string, tls: { tls?: ConnectionOptions }): Redis {
  return new Redis(url, {
    ...nodeOptions,
    ...tls,
    enableOfflineQueue: false,
    retryStrategy: () => RECONNECT_DELAY_MS,
  })
}

/** The credentials of the first node are those of all. */
function openCluster(urls: readonly string[], tls: { tls?: ConnectionOptions }): Cluster {
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
      username: decodeURIComponent(username),
      password: decodeURIComponent(password),
    },
    // Names stay names: a certificate is for a name, not for the address behind it.
    dnsLookup: (hostname, found) => found(null, hostname),
    enableOfflineQueue: false,
    clusterRetryStrategy: () => RECONNECT_DELAY_MS,
    // For each node that is asked for the others, one after the other.
    slotsRefreshTimeout: 200,
    maxRedirections: 4,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
  })
}

/**
 * The client's errors carry the command with its arguments, a password or an address among them; so does
 * the message where a server does not know the command.
 */
export function withoutCommand(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error)
  return new Error(message.replace(/, with args.*/s, ''))
}
