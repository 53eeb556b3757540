import { cpus, loadavg, totalmem } from 'node:os'
import type { BenchContext } from '../context.ts'

/** The machine and the software that was measured. */
export type Environment = Awaited<ReturnType<typeof readEnvironment>>

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

/** The load average over 1, 5 and 15 minutes: above the number of CPUs, other programs interfere. */
export function readLoad(): string {
  return loadavg()
    .map((average) => average.toFixed(1))
    .join(' ')
}

/** The lines above the tables. */
export function describeEnvironment({ options }: BenchContext, environment: Environment): string {
  const { orders, seconds, rounds, connections } = options
  const { date, memoryMb, node, openSearch, openSearchNodes, redis, loadAtStart } = environment
  const nodes = openSearchNodes === 1 ? '1 node' : `${openSearchNodes} nodes`
  return `${date}  ${environment.cpus} CPUs (${environment.cpu}), ${memoryMb} MB, Node ${node}
OpenSearch ${openSearch}, ${nodes}; Redis ${redis}; load average ${loadAtStart}
${orders} orders of ${environment.meanDocumentBytes} bytes; ${connections} connections; medians of ${rounds} rounds of ${seconds} s`
}
