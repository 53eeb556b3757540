import { randomBytes } from 'node:crypto'
import { cpus, loadavg, totalmem } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readCaFile } from '../../src/config/ca-file.ts'
import { type Config, parseConfig } from '../../src/config/config.ts'
import { connectOpenSearch } from '../../src/stores/opensearch/client/client.ts'
import { connectRedis, type RedisConnection } from '../../src/stores/redis/client.ts'
import { type RunningApi, type Settings, startApi } from '../../test/harness/processes/service.ts'
import {
  type Cluster,
  createCluster,
} from '../../test/harness/services/opensearch/cluster-administration.ts'
import { startOpenSearch } from '../../test/harness/services/opensearch/opensearch.ts'
import { provideServices } from '../../test/harness/services/provide.ts'
import { serviceStarters } from '../../test/harness/services/start-service.ts'
import { builtProgram } from './measuring/built-program.ts'
import { createCpuReader, type ReadCpu } from './measuring/cpu.ts'
import type { Target } from './measuring/load.ts'
import type { BenchOptions } from './options.ts'
import { type Case, createCases } from './orders/cases.ts'
import { accountSizes, type BenchOrders, createOrders } from './orders/orders.ts'
import type { PartReport } from './report.ts'

/** One of the comparisons that the bench can run. */
export interface Part {
  /** The value of `--only`. */
  name: string
  /** What it measures, for the usage. */
  about: string
  /** What `--measurement` chooses from. */
  measurements?: readonly { name: string; about: string }[]
  /**
   * Runs the contenders. What it defers to `scope` runs when the part ends, also after an error.
   */
  measure(context: BenchContext, scope: AsyncDisposableStack): Promise<PartReport>
}

/** What the parts of the bench share. */
export interface BenchContext extends OpenOptions {
  orders: BenchOrders
  cases: readonly Case[]
  /** The settings of the service, as text and parsed. */
  settings: Readonly<Record<string, string>>
  config: Config
  cluster: Cluster
  redis: RedisConnection['redis']
  openSearch: Target & { urls: readonly string[] }
  readCpu: ReadCpu
  /** Of the name of every index. */
  prefix: string
}

interface OpenOptions {
  env: NodeJS.ProcessEnv
  options: BenchOptions
  /** Aborted by a signal of the process. */
  signal: AbortSignal
  log(text: string): void
}

/** Starts the service as the contender of this name; with `--cpu-prof`, it is profiled. */
export async function startBenched(
  { options: { cpuProf } }: Pick<BenchContext, 'options'>,
  name: string,
  settings: Settings,
): Promise<RunningApi> {
  const profileFolder = cpuProf === undefined ? undefined : resolve(cpuProf, name)
  return await startApi(settings, { program: await builtProgram(), profileFolder })
}

/** The file of a baseline, which logs its address as the service does. */
export function baselineFile(name: string): string {
  return fileURLToPath(new URL(`baselines/${name}`, import.meta.url))
}

const secret = () => randomBytes(32).toString('base64')

/** Provides the services to `work`, and removes all that the bench created, also after an error. */
export async function withContext(
  open: OpenOptions,
  work: (context: BenchContext) => Promise<void>,
): Promise<void> {
  const { env, options, signal, log } = open
  await using scope = new AsyncDisposableStack()
  const prefix = `bench-${randomBytes(4).toString('hex')}-`
  const settings = {
    ...(await bringUp(open, scope)),
    ...caFiles(env),
    ...ownSettings(prefix, options),
  }
  const config = parseConfig(settings)
  const urls = config.opensearchUrls ?? []
  const ca = readCaFile('OPENSEARCH_CA_FILE', config.opensearchCaFile)
  const cluster = createCluster(connectOpenSearch({ urls, ca }))
  scope.defer(() => cluster.client.close())
  const { redis, close } = await connectRedis({
    urls: config.redisUrls ?? [],
    ca: readCaFile('REDIS_CA_FILE', config.redisCaFile),
    onError: ({ message }) => log(`Redis: ${message}`),
  })
  scope.defer(close)
  scope.defer(() => cluster.remove(prefix))
  const orders = createOrders(accountSizes(options.orders), Date.now())
  const openSearch = { urls, ca, origins: urls.map((url) => new URL(url).origin) }
  const readCpu = createCpuReader(cluster.client, redis)
  signal.throwIfAborted()
  const shared = { settings, config, cluster, redis, openSearch, readCpu, prefix }
  await work({ ...open, ...shared, orders, cases: createCases(orders) })
}

/**
 * Starts one local node where OpenSearch has to be started, since replicas would double each write.
 */
async function bringUp({ env, log }: OpenOptions, scope: AsyncDisposableStack) {
  const given = { ...env }
  const lacking = await serviceStarters.OPENSEARCH_URL.missingTools(env)
  if (!env['OPENSEARCH_URL'] && lacking.length === 0) {
    log('OpenSearch: starting one node as a local process …')
    const node = await startOpenSearch({ nodes: 1, purpose: 'measurement', env })
    scope.defer(() => node.stop())
    given['OPENSEARCH_URL'] = node.url
  }
  const services = await provideServices({ env: given, log })
  if ('missing' in services) throw new Error(services.missing.join('\n'))
  scope.defer(() => services.stop())
  return services.env
}

function caFiles(env: NodeJS.ProcessEnv): Record<string, string> {
  const names = ['OPENSEARCH_CA_FILE', 'REDIS_CA_FILE']
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])))
}

/** The defaults of the service, with a rate limit that no load reaches. */
function ownSettings(prefix: string, { shards }: BenchOptions) {
  return {
    INDEX_PREFIX: prefix,
    REDIS_PREFIX: prefix,
    ORDERS_SHARDS: `${shards}`,
    CURSOR_SECRETS: `k1:${secret()}`,
    KEY_PEPPER: secret(),
    RATE_LIMIT_CAPACITY: '1000000',
    RATE_LIMIT_REFILL_PER_SECOND: '1000000',
  }
}

/** The machine and the software that was measured. */
export async function readEnvironment({ cluster, redis, orders }: BenchContext) {
  const { version, nodes } = await cluster.version()
  return {
    date: new Date().toISOString(),
    cpus: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryMb: Math.round(totalmem() / 2 ** 20),
    node: process.versions.node,
    openSearch: version,
    openSearchNodes: nodes,
    redis: /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? 'unknown',
    meanDocumentBytes: Math.round(orders.meanBytes),
    loadAtStart: readLoad(),
  }
}

/**
 * The load average over 1, 5 and 15 minutes: above the number of CPUs, other programs interfere.
 */
export function readLoad(): string {
  return loadavg()
    .map((average) => average.toFixed(1))
    .join(' ')
}
