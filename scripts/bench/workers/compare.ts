import { openServices } from '../../../src/services.ts'
import { indexNames } from '../../../src/stores/opensearch/index-names.ts'
import type { BenchContext } from '../context.ts'
import { createCpuReader } from '../measuring/cpu.ts'
import { createGenerator, type Generator } from '../measuring/generator.ts'
import { type Heat, type HeatResult, race, type Side } from '../measuring/race.ts'
import { type RunningApi, startApi } from '../measuring/running-api.ts'
import type { Case } from '../orders/cases.ts'
import { checkAnswers, pageIds } from '../orders/check.ts'
import { loadDocuments } from '../orders/loader.ts'
import { issueKeys, pageRequests } from '../orders/pages.ts'
import { readTreeMicros } from './process-tree.ts'

export interface WorkersComparison {
  results: HeatResult[]
  /** By side: CPU time by the service's own metrics ÷ that of its processes by the kernel, over the race. */
  told: Record<string, number>
}

/** One process, and two: the same stores, the same requests. */
const WORKERS = ['1', '2']
const CASES = ['small created 20', 'large created 20', 'large created 100']

/** What a request costs with two workers, beside one; the primary process is counted. */
export async function compareWorkers(context: BenchContext): Promise<WorkersComparison> {
  const { cluster, config, options, orders, redis, settings, signal, log } = context
  const index = indexNames(config.indexPrefix).orders
  const services = await openServices(config)
  const running: Running[] = []
  try {
    await services.initialize()
    log(`loading ${orders.count} orders …`)
    await loadDocuments(orders.bulkLines(), { client: cluster.client, index, signal })
    await cluster.settle(index)

    const cases = context.cases.filter(({ name }) => CASES.includes(name))
    const keys = await issueKeys(cases, services)
    for (const workers of WORKERS) {
      const api = await startApi({ ...settings, WORKERS: workers })
      const generator = createGenerator({ origins: [api.origin] }, options.connections)
      running.push({ name: `workers ${workers}`, api, generator })
    }
    const heats: Heat[] = []
    for (const one of cases) heats.push(await heatOf(context, one, running, keys))

    const before = await readAll(running)
    const readCpu = createCpuReader({ client: cluster.client, redis, api: async () => 0 })
    const { rounds, seconds } = options
    const results = await race(heats, { rounds, seconds, readCpu, signal, log })
    const after = await readAll(running)
    const told = running.map(({ name }, at) => [name, toldShare(before[at], after[at])])
    return { results, told: Object.fromEntries(told) }
  } finally {
    for (const { api, generator } of running) {
      await generator.close()
      await api.stop()
    }
    await services.close()
  }
}

interface Running {
  name: string
  api: RunningApi
  generator: Generator
}

async function heatOf(
  { signal, log }: BenchContext,
  one: Case,
  running: readonly Running[],
  keys: ReadonlyMap<string, string>,
): Promise<Heat> {
  const sides: Side[] = []
  for (const { name, api, generator } of running) {
    log(`checking ${one.places.length} pages: ${one.name}, ${name}`)
    const requests = await pageRequests(one, { generator, keys, signal })
    const check = { generator, requests, of: one, size: one.limit, readIds: pageIds, signal }
    sides.push({ name, generator, server: api, requests: await checkAnswers(check) })
  }
  return { name: one.name, sides }
}

interface Readings {
  metrics: number
  kernel: number
}

function readAll(running: readonly Running[]): Promise<Readings[]> {
  return Promise.all(
    running.map(async ({ api }) => ({
      metrics: await api.cpuMicros(),
      kernel: await readTreeMicros(api.pid),
    })),
  )
}

function toldShare(before?: Readings, after?: Readings): number {
  if (!before || !after) return Number.NaN
  return (after.metrics - before.metrics) / (after.kernel - before.kernel)
}
