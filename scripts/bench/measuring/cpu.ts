import { readFile } from 'node:fs/promises'
import { Cluster as RedisCluster } from 'ioredis'
import { type OpenSearch, read } from '../../../src/stores/opensearch/client/client.ts'
import type { RedisConnection } from '../../../src/stores/redis/client.ts'
import { sum } from '../../../test/harness/statistics.ts'

/** CPU time since the start of each process, in microseconds. */
export interface CpuTimes {
  openSearchMicros: number
  redisMicros: number
  /** This process, which generates the load: on a small machine it competes with the others. */
  benchMicros: number
}

export type ReadCpu = () => Promise<CpuTimes>

/** OpenSearch renews its process statistics once a second, so readings must be further apart. */
export const CPU_RENEWAL_MS = 1_000

const DEADLINE_MS = 10_000
/** The unit of CPU time in `/proc`. */
const TICK_MICROS = 10_000

export function createCpuReader(client: OpenSearch, redis: RedisConnection['redis']): ReadCpu {
  return async () => {
    const readings = [readOpenSearchMicros(client), readRedisMicros(redis)] as const
    const [openSearchMicros, redisMicros] = await Promise.all(readings)
    const { user, system } = process.cpuUsage()
    return { openSearchMicros, redisMicros, benchMicros: user + system }
  }
}

async function readOpenSearchMicros(client: OpenSearch): Promise<number> {
  const { nodes } = (await read(DEADLINE_MS, (options) =>
    client.transport.request({ method: 'GET', path: '/_nodes/stats/process' }, options),
  )) as { nodes: Record<string, { process: { cpu: { total_in_millis: number } } }> }
  return 1000 * sum(Object.values(nodes).map(({ process }) => process.cpu.total_in_millis))
}

async function readRedisMicros(redis: RedisConnection['redis']): Promise<number> {
  const nodes = redis instanceof RedisCluster ? redis.nodes('all') : [redis]
  const texts = await Promise.all(nodes.map((node) => node.info('cpu')))
  return 1e6 * sum(texts.map(redisSeconds))
}

/** User and system time in the response to `INFO cpu`. */
export function redisSeconds(info: string): number {
  const seconds = (name: string) => Number(new RegExp(`^${name}:(.+)$`, 'm').exec(info)?.[1])
  return seconds('used_cpu_user') + seconds('used_cpu_sys')
}

/** CPU time of a process and its running descendants, by the kernel, in microseconds. */
export async function treeMicros(pid: number): Promise<number> {
  const pids = await processTree(pid)
  const stats = await Promise.all(pids.map((one) => readFile(`/proc/${one}/stat`, 'utf8')))
  return sum(stats.map(statMicros))
}

/** A process and its running descendants, by the kernel. */
export async function processTree(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  const pids = children.split(' ').filter((text) => text !== '')
  return [pid, ...(await Promise.all(pids.map((child) => processTree(Number(child))))).flat()]
}

/** CPU time of the children of this process that have ended, by the kernel, in microseconds. */
export async function endedChildrenMicros(): Promise<number> {
  return timesIn(await readFile('/proc/self/stat', 'utf8')).endedChildren
}

/** CPU time of the process itself in the text of `/proc/<pid>/stat`, in microseconds. */
export function statMicros(stat: string): number {
  return timesIn(stat).own
}

/** The name of the process is in parentheses, and may itself have spaces and parentheses. */
function timesIn(stat: string) {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number)
  return {
    own: TICK_MICROS * ((user ?? 0) + (system ?? 0)),
    endedChildren: TICK_MICROS * ((childrenUser ?? 0) + (childrenSystem ?? 0)),
  }
}
