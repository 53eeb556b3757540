import { randomBytes } from 'node:crypto'
import { readCaFile } from '../../src/config/ca-file.ts'
import { type Config, parseConfig } from '../../src/config/config.ts'
import { connectOpenSearch } from '../../src/stores/opensearch/client/client.ts'
import { connectRedis, type RedisConnection } from '../../src/stores/redis/client.ts'
import { startOpenSearch } from '../../test/harness/services/opensearch.ts'
import { provideServices } from '../../test/harness/services/provide.ts'
import { serviceStarters } from '../../test/harness/services/start-service.ts'
import { type Cluster, createCluster } from './measuring/cluster.ts'
import type { Target } from './measuring/generator.ts'
import type { BenchOptions } from './options.ts'
import { type Case, createCases } from './orders/cases.ts'
import { type BenchOrders, createOrders } from './orders/orders.ts'

/** What both parts of the bench work with. */
export interface BenchContext {
  options: BenchOptions
  orders: BenchOrders
  cases: readonly Case[]
  /** The service's settings, as text and as it reads them. */
  settings: Readonly<Record<string, string>>
  config: Config
  cluster: Cluster
  redis: RedisConnection['redis']
  openSearch: Target & { urls: readonly string[] }
  /** Before the name of every index. */
  prefix: string
  /** Aborted by a signal to end. */
  signal: AbortSignal
  log(text: string): void
}

interface OpenOptions {
  env: NodeJS.ProcessEnv
  options: BenchOptions
  signal: AbortSignal
  log(text: string): void
}

const secret = () => randomBytes(32).toString('base64')

/** Takes or starts the services, lets `work` use them, and leaves nothing behind whatever happens. */
export async function withContext(
  { env, options, signal, log }: OpenOptions,
  work: (context: BenchContext) => Promise<void>,
): Promise<void> {
  const services = await bringUp(env, log)
  try {
    const prefix = `bench-${randomBytes(4).toString('hex')}-`
    const settings = { ...services.env, ...caFiles(env), ...ownSettings(prefix) }
    const config = parseConfig(settings)
    const urls = config.opensearchUrls ?? []
    const ca = readCaFile('OPENSEARCH_CA_FILE', config.opensearchCaFile)
    const cluster = createCluster(connectOpenSearch({ urls, ca }))
    const redis = await connectRedis({
      urls: config.redisUrls ?? [],
      ca: readCaFile('REDIS_CA_FILE', config.redisCaFile),
      onError: ({ message }) => log(`Redis: ${message}`),
    })
    const orders = createOrders(options.orders, Date.now())
    const openSearch = { urls, ca, origins: urls.map((url) => new URL(url).origin) }
    const tools = { options, settings, config, cluster, openSearch, prefix, signal, log }
    try {
      signal.throwIfAborted()
      await work({ ...tools, orders, cases: createCases(orders), redis: redis.redis })
    } finally {
      await cluster.remove(prefix)
      await cluster.client.close()
      redis.close()
    }
  } finally {
    await services.stop()
  }
}

/** What is given; else one node where a local process of OpenSearch can be had, since copies double writes. */
async function bringUp(env: NodeJS.ProcessEnv, log: (text: string) => void) {
  const node = await startOneNode(env, log)
  const given = node ? { ...env, OPENSEARCH_URL: node.url } : env
  const services = await provideServices({ env: given, log })
  if (!('missing' in services)) {
    return {
      env: services.env,
      stop: async () => {
        await services.stop()
        await node?.stop()
      },
    }
  }
  await node?.stop()
  throw new Error(services.missing.join('\n'))
}

async function startOneNode(env: NodeJS.ProcessEnv, log: (text: string) => void) {
  const lacking = await serviceStarters.OPENSEARCH_URL.missingTools(env)
  if (env['OPENSEARCH_URL'] || lacking.length > 0) return undefined
  log('OpenSearch: starting one node as a local process …')
  return await startOpenSearch({ nodes: 1, env })
}

function caFiles(env: NodeJS.ProcessEnv): Record<string, string> {
  const names = ['OPENSEARCH_CA_FILE', 'REDIS_CA_FILE']
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])))
}

/** Nobody is ever refused for asking too often; all else is as it is by default. */
function ownSettings(prefix: string) {
  return {
    INDEX_PREFIX: prefix,
    REDIS_PREFIX: prefix,
    CURSOR_SECRETS: `k1:${secret()}`,
    KEY_PEPPER: secret(),
    RATE_LIMIT_CAPACITY: '1000000',
    RATE_LIMIT_REFILL_PER_SECOND: '1000000',
  }
}
