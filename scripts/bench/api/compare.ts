import { openServices } from '../../../src/services.ts'
import { indexNames } from '../../../src/stores/opensearch/names.ts'
import type { BenchContext } from '../context.ts'
import type { IndexFacts } from '../measuring/cluster.ts'
import { createCpuReader } from '../measuring/cpu.ts'
import { createGenerator, type Generator } from '../measuring/generator.ts'
import { type Heat, type HeatResult, race } from '../measuring/race.ts'
import { type RunningApi, startApi } from '../measuring/running-api.ts'
import type { IndexState } from '../options.ts'
import { checkAnswers, pageIds, searchIds } from '../orders/check.ts'
import { loadDocuments } from '../orders/loader.ts'
import { type Cursors, issueKeys, pageRequests } from '../orders/pages.ts'
import { recordSearches } from '../orders/searches.ts'

export interface ApiComparison {
  state: IndexState
  index: IndexFacts
  /** Of all searches since the index was there. */
  queryCacheHits: number
  results: HeatResult[]
}

/** The service beside the searches it sends, in the index that it makes itself; for each state of it. */
export async function compareApi(context: BenchContext): Promise<ApiComparison[]> {
  const { cluster, config, openSearch, options, orders, redis, settings, signal, log } = context
  const index = indexNames(config.indexPrefix).orders
  const services = await openServices(config)
  try {
    await services.prepare()
    log(`loading ${orders.count} orders …`)
    await loadDocuments(orders.bulkLines(), { client: cluster.client, index, signal })
    await cluster.settle(index)

    const keys = await issueKeys(context.cases, services)
    const api = await startApi(settings)
    const raw = createGenerator(openSearch, options.connections)
    const own = createGenerator({ origins: [api.origin] }, options.connections)
    try {
      const heats = await prepareHeats(context, { raw, own, keys })
      const readCpu = createCpuReader({ client: cluster.client, redis, api: api.cpuMicros })
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
      await closeAll(raw, own, api)
    }
  } finally {
    await services.close()
  }
}

interface Asking {
  raw: Generator
  own: Generator
  keys: ReadonlyMap<string, string>
}

async function prepareHeats(context: BenchContext, asking: Asking): Promise<Heat[]> {
  const { cases, config, log, openSearch, signal } = context
  const { raw, own, keys } = asking
  const index = indexNames(config.indexPrefix).orders
  const cursors: Cursors = new Map()
  const heats: Heat[] = []
  for (const one of cases) {
    log(`checking ${one.places.length} pages: ${one.name}`)
    const { places, limit } = one
    const searches = await recordSearches({ urls: openSearch.urls, index, places, limit })
    const pages = await pageRequests(one, { generator: own, keys, signal }, cursors)
    const check = { of: one, signal }
    const rawRequests = await checkAnswers({
      ...check,
      generator: raw,
      requests: searches,
      size: limit + 1,
      readIds: searchIds,
    })
    const ownRequests = await checkAnswers({
      ...check,
      generator: own,
      requests: pages,
      size: limit,
      readIds: pageIds,
    })
    heats.push({
      name: one.name,
      sides: [
        { name: 'raw', generator: raw, requests: rawRequests },
        { name: 'api', generator: own, requests: ownRequests },
      ],
    })
  }
  return heats
}

async function closeAll(raw: Generator, own: Generator, api: RunningApi): Promise<void> {
  await Promise.all([raw.close(), own.close()])
  await api.stop()
}
