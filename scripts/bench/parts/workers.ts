import type { RunningApi, RunningService } from '../../../test/harness/processes/service.ts'
import { findHaproxy } from '../../../test/harness/services/haproxy.ts'
import type { BenchContext, Part } from '../context.ts'
import { treeMicros } from '../measuring/cpu.ts'
import { createLoadClient } from '../measuring/load.ts'
import { pinApart } from '../measuring/pin.ts'
import { race } from '../measuring/race.ts'
import { accountsOf } from '../orders/cases.ts'
import { throughEdge } from '../orders/edge.ts'
import {
  accessTo,
  openReplicas,
  openService,
  type PageSource,
  pageScenarios,
} from '../orders/pages.ts'
import { fillServiceIndex } from '../orders/stores.ts'
import { formatRatio, type Section } from '../report.ts'

const [ONE, TWO] = ['workers 1', 'workers 2']
/** One worker with as many requests in flight as each of two has. */
const HALF_LOAD = 'half load'
const REPLICAS = [2, 4]
const CASES = ['small created 20', 'large created 20', 'large created 100']
/** Linux counts in hundredths of a second, and the two readings are not simultaneous. */
const TOLERANCE = 0.05
const COST = { figure: 'processMicros', isCost: true } as const
const RATIOS = [
  { ...COST, name: 'µs 2÷1 workers', of: TWO, per: ONE },
  { ...COST, name: 'µs half÷full load of a worker', of: HALF_LOAD, per: ONE },
  ...REPLICAS.map((count) => {
    return { ...COST, name: `µs ${count}÷1 replicas`, of: `replicas ${count}`, per: ONE }
  }),
]
const LEGEND = `workers: of one service; half load: one worker at half of the connections
replicas: services with one worker, which take turns, as behind a load balancer
process µs: CPU time of a request in all processes, with the primary of workers`
const EDGE_LEGEND = `edge: one worker, or the replicas, behind the HAProxy of docker/edge, over TLS
process µs: without HAProxy, which shares the processors of OpenSearch and the load`

/** The same requests to one worker, to two, and to several services, on the same stores. */
export const workersPart: Part = {
  name: 'workers',
  about: 'the cost of a request with two workers or several services, against one worker',
  async measure(context, scope) {
    const cases = context.cases.filter(({ name }) => CASES.includes(name))
    const { services } = await fillServiceIndex(context, scope)
    const access = await accessTo(accountsOf(cases), services)
    const open = (name: string, count: string) => {
      const settings = { ...context.settings, WORKERS: count }
      return openService(context, { name, settings, access }, scope)
    }
    const one = await open(ONE, '1')
    const sources = [one, await open(TWO, '2')]
    const connections = Math.ceil(context.options.connections / 2)
    const halfClient = createLoadClient({ origins: [one.server.origin] }, connections)
    const halfLoad = { ...one, name: HALF_LOAD, client: scope.use(halfClient) }
    const replicas = []
    for (const count of REPLICAS) {
      const plan = { name: `replicas ${count}`, settings: context.settings, access, count }
      replicas.push(await openReplicas(context, plan, scope))
    }
    const servers = [...sources.map(({ server }) => server), ...replicas.flatMap((r) => r.servers)]
    const pinned = await pinApart(
      servers.map(({ pid }) => pid),
      scope,
    )
    const scenarios = await pageScenarios(context, cases, [...sources, halfLoad, ...replicas])
    const readAll = () => Promise.all(sources.map(({ server }) => readCpu(server)))
    const before = await readAll()
    const results = await race(scenarios, context)
    const after = await readAll()
    const shares = sources.map(({ name }, at): [string, number] => {
      const grown = (by: 'metrics' | 'kernel') => (after[at]?.[by] ?? 0) - (before[at]?.[by] ?? 0)
      return [name, grown('metrics') / grown('kernel')]
    })
    const texts = shares.map(([name, share]) => `${name} ${formatRatio(share)}`)
    const notes = [LEGEND, pinned, `CPU time by /metrics ÷ by /proc, over all: ${texts.join(', ')}`]
    const section = {
      title: 'One worker, two, and several services',
      results,
      base: ONE,
      ratios: RATIOS,
      notes,
    }
    // Only now, because its checks of readiness take the time of the services.
    const behindEdge = await measureEdge(
      context,
      cases,
      [{ ...one, servers: [one.server] }, ...replicas],
      scope,
    )
    return { sections: [section, behindEdge], failures: misreported(shares) }
  },
}

/**
 * The throughput of several services behind the edge, without a ratio: it depends on the
 * processors.
 */
async function measureEdge(
  context: BenchContext,
  cases: BenchContext['cases'],
  sources: readonly (PageSource & { servers: readonly RunningApi[] })[],
  scope: AsyncDisposableStack,
): Promise<Section> {
  const title = 'Behind the edge'
  if ((await findHaproxy(context.env)) === undefined) {
    return { title, results: [], notes: ['not measured: no HAProxy on the path, or too old'] }
  }
  const edges = []
  for (const source of sources) {
    const name = `edge ${source.servers.length}`
    edges.push(await throughEdge(context, { ...source, name }, source.servers, scope))
  }
  const results = await race(await pageScenarios(context, cases, edges), context)
  return { title, results, base: 'edge 1', notes: [EDGE_LEGEND] }
}

/** Metrics that miss CPU time, which voids the figures; `shares` of that by the kernel. */
export function misreported(shares: readonly (readonly [string, number])[]): string[] {
  return shares.flatMap(([name, share]) =>
    Math.abs(share - 1) > TOLERANCE
      ? [`! ${name}: /metrics has ${formatRatio(share)} of the CPU time of its processes`]
      : [],
  )
}

async function readCpu({ cpuMicros, pid }: RunningService) {
  const kernelMicros = treeMicros(pid).catch(() => Number.NaN) // Systems without /proc.
  const [metrics, kernel] = await Promise.all([cpuMicros(), kernelMicros])
  return { metrics, kernel }
}
