import { Cluster as RedisCluster } from 'ioredis'
import { type OpenSearch, read } from '../../../src/stores/opensearch/client/client.ts'
import type { RedisConnection } from '../../../src/stores/redis/client.ts'

/** CPU time that each process has used since its start, in microseconds. */
export interface CpuTimes {
  openSearch: number
  redis: number
  /** The process that answers, the service or a peer of it; 0 where that is OpenSearch itself. */
  api: number
  /** This process, which makes the load: on a small machine it takes from the others. */
  bench: number
}

/** Reads all of them. */
export type ReadCpu = () => Promise<CpuTimes>

interface CpuSources {
  client: OpenSearch
  redis: RedisConnection['redis']
  /** Microseconds; 0 while no API runs. */
  api(): Promise<number>
}

/**
 * A node renews what it tells of its process once a second and no sooner, so readings of OpenSearch have to
 * lie at least this far apart.
 */
export const CPU_RENEWAL_MS = 1_000

const DEADLINE_MS = 10_000

export function createCpuReader({ client, redis, api }: CpuSources): ReadCpu {
  return async () => {
    const [openSearch, redisTime, apiTime] = await Promise.all([
      openSearchMicros(client),
      redisMicros(redis),
      api(),
    ])
    const { user, system } = process.cpuUsage()
    return { openSearch, redis: redisTime, api: apiTime, bench: user + system }
  }
}

/** CPU time of an answer on average, from readings before and after so many answers. */
export function cpuPerAnswer(before: CpuTimes, after: CpuTimes, answers: number): CpuTimes {
  return {
    openSearch: (after.openSearch - before.openSearch) / answers,
    redis: (after.redis - before.redis) / answers,
    api: (after.api - before.api) / answers,
    bench: (after.bench - before.bench) / answers,
  }
}

/** The sum over all nodes. */
async function openSearchMicros(client: OpenSearch): Promise<number> {
  const { nodes } = (await read(DEADLINE_MS, (options) =>
    client.transport.request({ method: 'GET', path: '/_nodes/stats/process' }, options),
  )) as { nodes: Record<string, { process: { cpu: { total_in_millis: number } } }> }
  const millis = Object.values(nodes).map(({ process }) => process.cpu.total_in_millis)
  return 1000 * sum(millis)
}

/** The sum over all nodes. */
async function redisMicros(redis: RedisConnection['redis']): Promise<number> {
  const nodes = redis instanceof RedisCluster ? redis.nodes('all') : [redis]
  const texts = await Promise.all(nodes.map((node) => node.info('cpu')))
  return 1e6 * sum(texts.map(redisSeconds))
}

/** User and system time of a Redis's answer to `INFO cpu`. */
export function redisSeconds(info: string): number {
  const seconds = (name: string) => Number(new RegExp(`^${name}:(.+)$`, 'm').exec(info)?.[1])
  return seconds('used_cpu_user') + seconds('used_cpu_sys')
}

/** The process's CPU time out of what `/metrics` shows, in microseconds. */
export function metricsMicros(metrics: string): number {
  return 1e6 * processMetric(metrics, 'cpu_seconds_total')
}

/** The process's memory out of what `/metrics` shows. */
export function residentBytes(metrics: string): number {
  return processMetric(metrics, 'resident_memory_bytes')
}

function processMetric(metrics: string, name: string): number {
  return Number(new RegExp(`^process_${name} (\\S+)`, 'm').exec(metrics)?.[1])
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
