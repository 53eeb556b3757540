import { openServices } from '../../../src/services.ts'
import { indexNames } from '../../../src/stores/opensearch/index-names.ts'
import type { BenchContext } from '../context.ts'
import type { IndexFacts } from '../measuring/cluster.ts'
import { createCpuReader } from '../measuring/cpu.ts'
import { type Heat, type HeatResult, race } from '../measuring/race.ts'
import type { IndexState } from '../options.ts'
import { loadDocuments } from '../orders/loader.ts'
import { issueKeys } from '../orders/pages.ts'
import {
  type Contender,
  enter,
  openApi,
  openEmbeddedApi,
  openRaw,
  openStraightforward,
} from './contenders.ts'

export interface ApiComparison {
  state: IndexState
  index: IndexFacts
  /** Of all searches since the index was there. */
  queryCacheHits: number
  results: HeatResult[]
}

/**
 * The service beside the searches it sends, beside a peer and without OpenSearch, in the index that it makes
 * itself; for each state of it.
 */
export async function compareApi(context: BenchContext): Promise<ApiComparison[]> {
  const { cases, cluster, config, options, orders, redis, signal, log } = context
  const index = indexNames(config.indexPrefix).orders
  const services = await openServices(config)
  const contenders: Contender[] = []
  try {
    await services.initialize()
    log(`loading ${orders.count} orders …`)
    await loadDocuments(orders.bulkLines(), { client: cluster.client, index, signal })
    await cluster.settle(index)

    // Whoever is held against another runs right beside it.
    const keys = await issueKeys(cases, services)
    contenders.push(await openStraightforward(context, keys))
    contenders.push(await openApi(context, keys))
    contenders.push(openRaw(context))
    contenders.push(await openEmbeddedApi(context))

    const heats = await prepareHeats(context, contenders)
    const readCpu = createCpuReader({ client: cluster.client, redis, api: async () => 0 })
    const { rounds, seconds, states } = options
    const compared: ApiComparison[] = []
    for (const state of states) {
      if (state === 'merged') await cluster.merge(index)
      const results = await race(heats, { rounds, seconds, readCpu, signal, log })
      const queryCacheHits = await cluster.queryCacheHits(index)
      compared.push({ state, index: await cluster.facts(index), queryCacheHits, results })
    }
    return compared
  } finally {
    await Promise.all(contenders.map((contender) => contender.close()))
    await services.close()
  }
}

async function prepareHeats(
  context: BenchContext,
  contenders: readonly Contender[],
): Promise<Heat[]> {
  const heats: Heat[] = []
  for (const one of context.cases) {
    const sides: Heat['sides'][number][] = []
    for (const contender of contenders) sides.push(await enter(contender, one, context))
    heats.push({ name: one.name, sides })
  }
  return heats
}
