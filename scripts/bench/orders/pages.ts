import { issueKey } from '../../../src/auth/issue-key.ts'
import { loadSecrets } from '../../../src/config/secrets.ts'
import { createCursorCodec } from '../../../src/orders/cursor.ts'
import { noFilters } from '../../../src/orders/filters/filters.ts'
import type { Position } from '../../../src/orders/order-store.ts'
import type { Services } from '../../../src/services.ts'
import type { RunningApi, Settings } from '../../../test/harness/processes/service.ts'
import { sum } from '../../../test/harness/statistics.ts'
import { type BenchContext, startBenched } from '../context.ts'
import { createLoadClient, type LoadClient, type LoadRequest } from '../measuring/load.ts'
import { loopContender, type Scenario, warmUpProcesses } from '../measuring/race.ts'
import { type Case, idsOf, type Place, stateAt } from './cases.ts'
import { filterParams } from './filtered.ts'
import { recordSearches } from './searches.ts'

/** A service, or several that share their work. */
type MeasuredServer = Pick<RunningApi, 'origin' | 'cpuMicros' | 'residentBytes'>

/** A contender that returns pages of orders. */
export interface PageSource {
  name: string
  client: LoadClient
  /** Absent where OpenSearch itself responds. */
  server?: MeasuredServer
  processes?: number
  /** A request for each place of the case. */
  requestsOf(of: Case): Promise<LoadRequest[]> | LoadRequest[]
  /** The ids of a response's orders. */
  readIds(response: Buffer): string[]
}

/** What the requests for an account's pages need. */
export interface Access {
  key: string
  latestWrite: Position | null
}

/** By account. */
export type AccessMap = ReadonlyMap<string, Access>

const CONCURRENCY = 8

/** The searches of the service, sent directly to OpenSearch. */
export function rawSearches(
  { openSearch: { urls } }: Pick<BenchContext, 'openSearch'>,
  { name = 'raw', index, client }: { name?: string; index: string; client: LoadClient },
): PageSource {
  const requestsOf = ({ places, limit }: Case) => recordSearches({ urls, index, places, limit })
  const readIds = (response: Buffer) => {
    const { hits }: { hits: { hits: { _source: { id: string } }[] } } = JSON.parse(`${response}`)
    return hits.hits.map(({ _source }) => _source.id)
  }
  return { name, client, requestsOf, readIds }
}

interface ServicePlan {
  name: string
  client: LoadClient
  access: AccessMap
  server?: MeasuredServer
  processes?: number
  /** Returns the cursor of a place; those of the service by default. */
  cursorAt?(place: Place): string | null
}

/**
 * The pages of a running service. Cursors are sealed, since paging to the places would need
 * thousands of requests.
 */
export function servicePages(
  { config }: Pick<BenchContext, 'config'>,
  { access, cursorAt, ...source }: ServicePlan,
): PageSource {
  const codec = createCursorCodec(loadSecrets(config).cursorSecrets)
  const seal = (place: Place) => {
    const state = stateAt(place, access.get(place.accountId)?.latestWrite ?? null)
    return state && codec.seal({ filters: noFilters, ...place }, state)
  }
  const requestsOf = ({ places, limit }: Case) =>
    places.map((place): LoadRequest => {
      const cursor = (cursorAt ?? seal)(place)
      const filters = filterParams(place.filters ?? noFilters)
      const query = { sort: place.sort, limit: `${limit}`, ...filters, ...(cursor && { cursor }) }
      const headers = { authorization: `Bearer ${access.get(place.accountId)?.key}` }
      return { method: 'GET', path: `/v1/orders?${new URLSearchParams(query)}`, headers }
    })
  const readIds = (response: Buffer) => {
    const { data }: { data: { id: string }[] } = JSON.parse(`${response}`)
    return data.map(({ id }) => id)
  }
  return { ...source, requestsOf, readIds }
}

interface OpenPlan {
  name: string
  settings: Settings
  access: AccessMap
}

/** Starts a service, and returns its pages as a contender. */
export async function openService(
  context: BenchContext,
  { name, settings, access }: OpenPlan,
  scope: AsyncDisposableStack,
) {
  const server = scope.use(await startBenched(context, name, settings))
  const target = { origins: [server.origin] }
  const client = scope.use(createLoadClient(target, context.options.connections))
  const { WORKERS = '1' } = settings
  const processes = Number(WORKERS)
  return { ...servicePages(context, { name, client, access, server, processes }), server }
}

/** Starts several services on the same stores, and returns their pages as one contender. */
export async function openReplicas(
  context: BenchContext,
  { name, settings, access, count }: OpenPlan & { count: number },
  scope: AsyncDisposableStack,
) {
  const servers: RunningApi[] = []
  while (servers.length < count) {
    const own = `${name} no. ${servers.length + 1}`
    servers.push(scope.use(await startBenched(context, own, settings)))
  }
  const summed = async (read: (server: RunningApi) => Promise<number>) =>
    sum(await Promise.all(servers.map(read)))
  const origins = servers.map(({ origin }) => origin)
  const server = {
    origin: origins[0] ?? '',
    cpuMicros: () => summed((one) => one.cpuMicros()),
    residentBytes: () => summed((one) => one.residentBytes()),
  }
  const client = scope.use(createLoadClient({ origins }, context.options.connections))
  return { ...servicePages(context, { name, client, access, server, processes: count }), servers }
}

/** Issues a key for each account. */
export async function accessTo(accountIds: Iterable<string>, services: Services) {
  const access = new Map<string, Access>()
  for (const accountId of new Set(accountIds)) {
    const grant = { accountId, scopes: ['orders:read'] as const, name: null, expiresAt: null }
    const { key } = await issueKey(services, grant, Date.now())
    access.set(accountId, { key, latestWrite: await services.orders.latestWrite(accountId) })
  }
  return access
}

/**
 * Fetches every page once and compares its orders with the generated ones. From then on the length
 * shows whether a page is complete. This also warms up the source.
 * @throws Error for a wrong page
 */
export async function checkedRequests(
  { signal, log }: Pick<BenchContext, 'signal' | 'log'>,
  { name, client, requestsOf, readIds }: PageSource,
  of: Case,
): Promise<LoadRequest[]> {
  log(`checking ${of.places.length} pages: ${of.name}, ${name}`)
  const requests = await requestsOf(of)
  const waiting = requests.entries()
  const checked: LoadRequest[] = []

  async function checkUntilDone() {
    for (const [at, request] of waiting) {
      signal.throwIfAborted()
      const response = await client.fetch(request)
      const place = of.places[at]
      const expected = place ? idsOf(place, of.limit) : []
      // A search returns one row more, which shows whether another page follows.
      if (readIds(response).slice(0, of.limit).join() !== expected.join()) {
        throw new Error(`${of.name}: a page does not have its ${expected.length} orders`)
      }
      checked[at] = { ...request, expectedBytes: response.length }
    }
  }

  await Promise.all(Array.from({ length: CONCURRENCY }, checkUntilDone))
  return checked
}

/** The sources, each with checked requests for the pages of the case. */
export async function checkedSources<S extends PageSource>(
  context: BenchContext,
  sources: readonly S[],
  of: Case,
): Promise<(S & { requests: LoadRequest[] })[]> {
  const checked = []
  for (const source of sources) {
    checked.push({ ...source, requests: await checkedRequests(context, source, of) })
  }
  return checked
}

/** A scenario for each case, in which every source is a contender. Their processes are warm. */
export async function pageScenarios(
  context: BenchContext,
  cases: readonly Case[],
  sources: readonly PageSource[],
): Promise<Scenario[]> {
  const checkedCases = []
  for (const of of cases) {
    checkedCases.push({ name: of.name, checked: await checkedSources(context, sources, of) })
  }
  await warmUpProcesses(
    checkedCases.flatMap(({ checked }) => checked),
    context,
  )
  return checkedCases.map(({ name, checked }) => ({
    name,
    contenders: checked.map((source) => loopContender(context, source)),
  }))
}
