import { indexNames } from '../../../src/stores/opensearch/index-names.ts'
import type { BenchContext } from '../context.ts'
import { createGenerator, type Generator, type LoadRequest } from '../measuring/generator.ts'
import type { Server, Side } from '../measuring/race.ts'
import { type RunningApi, startApi, startPeer } from '../measuring/running-api.ts'
import type { Case } from '../orders/cases.ts'
import { checkAnswers, pageIds, type ReadIds, searchIds } from '../orders/check.ts'
import { fillEmbedded, openEmbedded } from '../orders/embedded.ts'
import { type Cursors, issueKeys, pageRequests } from '../orders/pages.ts'
import { recordSearches } from '../orders/searches.ts'
import { pageRequest } from '../orders/walk.ts'
import { writeCursor } from '../peers/straightforward-app.ts'

export type SideName = 'straightforward' | 'api' | 'raw' | 'embedded'

/** One way to have a page answered, running. */
export interface Contender {
  name: SideName
  generator: Generator
  /** Absent where OpenSearch itself answers. */
  server?: Server
  /** A request for each place of the case. */
  requestsOf(one: Case): Promise<LoadRequest[]>
  /** How many orders an answer has beyond those of the page. */
  beyond: number
  readIds: ReadIds
  close(): Promise<void>
}

type Keys = ReadonlyMap<string, string>

/** Asks a contender for every page of a case once: it may race when each has the orders it should have. */
export async function enter(
  { name, generator, server, requestsOf, beyond, readIds }: Contender,
  one: Case,
  { log, signal }: Pick<BenchContext, 'log' | 'signal'>,
): Promise<Side> {
  log(`checking ${one.places.length} pages: ${one.name}, ${name}`)
  const size = one.limit + beyond
  const check = { generator, requests: await requestsOf(one), of: one, size, readIds, signal }
  return { name, generator, requests: await checkAnswers(check), ...(server && { server }) }
}

/** The searches that the service sends, sent by themselves. */
export function openRaw({ config, openSearch, options }: BenchContext): Contender {
  const { urls } = openSearch
  const index = indexNames(config.indexPrefix).orders
  const generator = createGenerator(openSearch, options.connections)
  return {
    name: 'raw',
    generator,
    requestsOf: ({ places, limit }) => recordSearches({ urls, index, places, limit }),
    beyond: 1,
    readIds: searchIds,
    close: generator.close,
  }
}

/** The service on OpenSearch and Redis. */
export async function openApi(context: BenchContext, keys: Keys): Promise<Contender> {
  return { name: 'api', ...serviceOf(await startApi(context.settings), context, keys) }
}

/** The service by itself, on a store that has the same orders. */
export async function openEmbeddedApi(context: BenchContext): Promise<Contender> {
  const { cases, log, orders, settings, signal } = context
  const store = await openEmbedded(settings)
  try {
    log(`loading ${orders.count} orders into the embedded store …`)
    await fillEmbedded(store, orders, signal)
    const keys = await issueKeys(cases, store.services)
    const service = serviceOf(await startApi(store.settings), context, keys)
    return {
      name: 'embedded',
      ...service,
      async close() {
        await service.close()
        await store.close()
      },
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

/** The same pages as most would write it. */
export async function openStraightforward(context: BenchContext, keys: Keys): Promise<Contender> {
  const { settings } = context
  const peer = await startPeer('straightforward.ts', { settings })
  return {
    name: 'straightforward',
    ...runningOf(peer, context),
    requestsOf: async ({ places, sort, limit }) =>
      places.map(({ accountId, after }) => {
        const cursor = after && writeCursor([after.key, after.id])
        return pageRequest({ key: keys.get(accountId) ?? '', sort, limit, cursor })
      }),
  }
}

function serviceOf(server: RunningApi, context: BenchContext, keys: Keys) {
  const running = runningOf(server, context)
  const { generator } = running
  const cursors: Cursors = new Map()
  const { signal } = context
  return {
    ...running,
    requestsOf: (one: Case) => pageRequests(one, { generator, keys, signal }, cursors),
  }
}

function runningOf(server: RunningApi, { options }: BenchContext) {
  const generator = createGenerator({ origins: [server.origin] }, options.connections)
  return {
    generator,
    server,
    beyond: 0,
    readIds: pageIds,
    async close() {
      await generator.close()
      await server.stop()
    },
  }
}
