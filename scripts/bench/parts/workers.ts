import type { RunningService } from '../../../test/harness/processes/service.ts'
import type { Part } from '../context.ts'
import { treeMicros } from '../measuring/cpu.ts'
import { pinApart } from '../measuring/pin.ts'
import { race } from '../measuring/race.ts'
import { accountsOf } from '../orders/cases.ts'
import { accessTo, openReplicas, openService, pageScenarios } from '../orders/pages.ts'
import { fillServiceIndex } from '../orders/stores.ts'
import { formatRatio } from '../report.ts'

const [ONE, TWO] = ['workers 1', 'workers 2']
const REPLICAS = [2, 4]
const CASES = ['small created 20', 'large created 20', 'large created 100']
/** Linux counts in hundredths of a second, and the two readings are not simultaneous. */
const TOLERANCE = 0.05
const COST = { figure: 'processMicros', isCost: true } as const
const RATIOS = [
  { ...COST, name: 'µs 2÷1 workers', of: TWO, per: ONE },
  ...REPLICAS.map((count) => {
    return { ...COST, name: `µs ${count}÷1 replicas`, of: `replicas ${count}`, per: ONE }
  }),
]
const LEGEND = `workers: of one service; replicas: services with one worker, which take turns, as behind a load balancer
process µs: CPU time of a request in all processes, with the primary of workers`

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
    const sources = [await open(ONE, '1'), await open(TWO, '2')]
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
    const scenarios = await pageScenarios(context, cases, [...sources, ...replicas])
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
    return { sections: [section], failures: misreported(shares) }
  },
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
