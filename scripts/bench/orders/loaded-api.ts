import { openServices } from '../../../src/services.ts'
import { indexNames } from '../../../src/stores/opensearch/index-names.ts'
import type { BenchContext } from '../context.ts'
import { createCpuReader, type ReadCpu } from '../measuring/cpu.ts'
import type { Generator, LoadRequest } from '../measuring/generator.ts'
import { type RunningApi, startApi } from '../measuring/running-api.ts'
import type { Case } from './cases.ts'
import { checkAnswers, pageIds, searchIds } from './check.ts'
import { loadDocuments } from './loader.ts'
import { recordSearches } from './searches.ts'

/** The service at work on an index of its own that was filled. */
export interface LoadedApi {
  index: string
  services: Awaited<ReturnType<typeof openServices>>
  api: RunningApi
  readCpu: ReadCpu
}

/** Fills the index that the service makes, starts the API on it, and stops it once `work` has ended. */
export async function withLoadedApi<T>(
  { cluster, config, redis, settings, signal }: BenchContext,
  lines: Iterator<string>,
  work: (loaded: LoadedApi) => Promise<T>,
): Promise<T> {
  const index = indexNames(config.indexPrefix).orders
  const services = await openServices(config)
  try {
    await services.initialize()
    await loadDocuments(lines, { client: cluster.client, index, signal })
    await cluster.settle(index)
    const api = await startApi(settings)
    try {
      const readCpu = createCpuReader({ client: cluster.client, redis, api: api.cpuMicros })
      return await work({ index, services, api, readCpu })
    } finally {
      await api.stop()
    }
  } finally {
    await services.close()
  }
}

export interface Asked {
  of: Pick<Case, 'name' | 'places' | 'limit'>
  index: string
  /** Asks OpenSearch. */
  raw: Generator
  /** Asks the API. */
  own: Generator
  /** What the API is asked for, a request a place. */
  pages: readonly LoadRequest[]
}

/** The searches and the pages of a case, each held against what was loaded. */
export async function checkBoth(
  { openSearch, signal }: Pick<BenchContext, 'openSearch' | 'signal'>,
  { of, index, raw, own, pages }: Asked,
): Promise<{ raw: LoadRequest[]; api: LoadRequest[] }> {
  const { places, limit } = of
  const searches = await recordSearches({ urls: openSearch.urls, index, places, limit })
  const asSearches = { generator: raw, requests: searches, size: limit + 1, readIds: searchIds }
  const asPages = { generator: own, requests: pages, size: limit, readIds: pageIds }
  return {
    raw: await checkAnswers({ of, signal, ...asSearches }),
    api: await checkAnswers({ of, signal, ...asPages }),
  }
}
