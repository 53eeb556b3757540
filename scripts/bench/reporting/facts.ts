import { cpus, loadavg, totalmem } from 'node:os'
import type { BenchContext } from '../context.ts'

/** What the figures were measured on, without which they say nothing. */
export type Facts = Awaited<ReturnType<typeof readFacts>>

export async function readFacts({ cluster, redis, orders }: BenchContext) {
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

/** How many programs wanted a CPU, over 1, 5 and 15 minutes: above the number of CPUs, others take part. */
export function readLoad(): string {
  return loadavg()
    .map((average) => average.toFixed(1))
    .join(' ')
}

/** The lines above the tables. */
export function describe({ options }: Pick<BenchContext, 'options'>, facts: Facts): string {
  const { orders, seconds, rounds, connections } = options
  const { date, cpus, cpu, memoryMb, node, openSearch, openSearchNodes, redis } = facts
  const nodes = openSearchNodes === 1 ? '1 node' : `${openSearchNodes} nodes`
  return [
    `${date}  ${cpus} CPUs (${cpu}), ${memoryMb} MB, Node ${node}`,
    `OpenSearch ${openSearch}, ${nodes}; Redis ${redis}; load average ${facts.loadAtStart}`,
    `${orders} orders of ${facts.meanDocumentBytes} bytes; ` +
      `${connections} connections; medians of ${rounds} rounds of ${seconds} s`,
  ].join('\n')
}
