import { Cluster as RedisCluster } from 'ioredis'
import { type OpenSearch, read } from '../../../src/stores/opensearch/client/client.ts'
import type { RedisConnection } from '../../../src/stores/redis/client.ts'
import { sum } from './figures.ts'

/** CPU time of each process, in microseconds: since its start, or for each answer. */
export interface CpuTimes {
  openSearch: number
  redis: number
  /** The process of the contender; 0 where OpenSearch itself is the contender. */
  api: number
  /** This process, which generates the load: on a small machine it competes with the others. */
  bench: number
}

export type ReadCpu = () => Promise<CpuTimes>

/** OpenSearch renews its process statistics once a second, so readings must be further apart. */
export const CPU_RENEWAL_MS = 1_000

const DEADLINE_MS = 10_000

export function createCpuReader(client: OpenSearch, redis: RedisConnection['redis']): ReadCpu {
  return async () => {
    const [openSearchTime, redisTime] = await Promise.all([
      openSearchMicros(client),
      redisMicros(redis),
    ])
    const { user, system } = process.cpuUsage()
    return { openSearch: openSearchTime, redis: redisTime, api: 0, bench: user + system }
  }
}

/** The difference of two readings for each of so many answers. */
export function cpuPerAnswer<T extends CpuTimes>(before: T, after: T, answers: number): T {
  const names = Object.keys(before) as (keyof T)[]
  const micros = names.map((name) => [name, (Number(after[name]) - Number(before[name])) / answers])
  return Object.fromEntries(micros)
}

async function openSearchMicros(client: OpenSearch): Promise<number> {
  const { nodes } = (await read(DEADLINE_MS, (options) =>
    client.transport.request({ method: 'GET', path: '/_nodes/stats/process' }, options),
  )) as { nodes: Record<string, { process: { cpu: { total_in_millis: number } } }> }
  return 1000 * sum(Object.values(nodes).map(({ process }) => process.cpu.total_in_millis))
}

async function redisMicros(redis: RedisConnection['redis']): Promise<number> {
  const nodes = redis instanceof RedisCluster ? redis.nodes('all') : [redis]
  const texts = await Promise.all(nodes.map((node) => node.info('cpu')))
  return 1e6 * sum(texts.map(redisSeconds))
}

/** User and system time in the response to `INFO cpu`. */
export function redisSeconds(info: string): number {
  const seconds = (name: string) => Number(new RegExp(`^${name}:(.+)$`, 'm').exec(info)?.[1])
  return seconds('used_cpu_user') + seconds('used_cpu_sys')
}

/** A metric without labels in the text of `/metrics`; NaN where it is absent. */
export function readMetric(metrics: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(metrics)?.[1])
}

/** CPU time of the process in the text of `/metrics`, in microseconds. */
export function metricsMicros(metrics: string): number {
  return 1e6 * readMetric(metrics, 'process_cpu_seconds_total')
}

/** Resident memory of the process in the text of `/metrics`. */
export function residentBytes(metrics: string): number {
  return readMetric(metrics, 'process_resident_memory_bytes')
}
