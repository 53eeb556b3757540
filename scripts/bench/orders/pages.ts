import { issueKey } from '../../../src/auth/keys.ts'
import type { Services } from '../../../src/services.ts'
import type { BenchContext } from '../context.ts'
import type { ClosedLoop } from '../measuring/closed-loop.ts'
import { closedLoopContender, type Sample, type Scenario } from '../measuring/race.ts'
import type { LoadRequest } from '../measuring/request.ts'
import type { RunningService } from '../measuring/service.ts'
import type { Case, Place } from './cases.ts'
import { recordSearches } from './searches.ts'

type Pages = Pick<Case, 'name' | 'places' | 'limit'>

/** A contender that answers pages of orders. */
export interface PageSource<C extends Pages = Case> {
  name: string
  loop: ClosedLoop
  /** Absent where OpenSearch itself answers. */
  server?: RunningService
  /** A request for each place of the case. */
  requestsOf(of: C): Promise<readonly LoadRequest[]> | readonly LoadRequest[]
  /** How many rows a response has beyond those of the page. */
  extraRows: number
  /** The ids of a response's orders. */
  readIds(response: Buffer): string[]
}

/** By account. */
export type Keys = ReadonlyMap<string, string>

const CONCURRENCY = 8
const LARGEST_PAGE = 100

function searchIds(response: Buffer): string[] {
  const { hits }: { hits: { hits: { _source: { id: string } }[] } } = JSON.parse(`${response}`)
  return hits.hits.map(({ _source }) => _source.id)
}

export function pageIds(response: Buffer): string[] {
  const { data }: { data: { id: string }[] } = JSON.parse(`${response}`)
  return data.map(({ id }) => id)
}

/** The searches of the service, sent directly to OpenSearch. */
export function rawSearches(
  { openSearch: { urls } }: Pick<BenchContext, 'openSearch'>,
  { name = 'raw', index, loop }: { name?: string; index: string; loop: ClosedLoop },
) {
  const requestsOf = ({ places, limit }: Pages) => recordSearches({ urls, index, places, limit })
  return { name, loop, requestsOf, extraRows: 1, readIds: searchIds }
}

/** The pages of a running service. Walks each listing once, whatever the limit of the pages. */
export function servicePages(
  { signal }: Pick<BenchContext, 'signal'>,
  { name, loop, keys }: { name: string; loop: ClosedLoop; keys: Keys },
): PageSource {
  const cursors = new Map<string, string[]>()

  async function requestsOf({ places, sort, limit }: Case) {
    const requests: LoadRequest[] = []
    for (const [accountId, listing] of Map.groupBy(places, (place) => place.accountId)) {
      const key = keys.get(accountId) ?? ''
      const walk = `${accountId} ${sort}`
      const walked = cursors.get(walk) ?? (await walkToPlaces({ loop, key, listing, signal }))
      cursors.set(walk, walked)
      requests.push(...walked.map((cursor) => pageRequest({ key, sort, limit, cursor })))
    }
    return requests
  }

  return { name, loop, requestsOf, extraRows: 0, readIds: pageIds }
}

interface Walk {
  loop: ClosedLoop
  key: string
  /** All places of one listing, in its order. */
  listing: readonly Place[]
  signal: AbortSignal
}

/** Pages through an account's listing from its start, and returns a cursor for each place. */
async function walkToPlaces({ loop, key, listing, signal }: Walk): Promise<string[]> {
  const cursors: string[] = []
  let cursor: string | null = null
  let rows = 0
  for (const { sort, rowsBefore } of listing) {
    while (rows < rowsBefore) {
      signal.throwIfAborted()
      const limit = Math.min(LARGEST_PAGE, rowsBefore - rows)
      const page = await loop.fetch(pageRequest({ key, sort, limit, cursor }))
      cursor = (JSON.parse(page.toString()) as { next_cursor: string | null }).next_cursor
      if (cursor === null) throw new Error(`the listing ended before ${rowsBefore} orders`)
      rows += limit
    }
    cursors.push(cursor ?? '')
  }
  return cursors
}

interface PageOptions {
  key: string
  sort: Place['sort']
  limit: number
  cursor: string | null
}

/** The request for a page, as an integrator sends it. */
export function pageRequest({ key, sort, limit, cursor }: PageOptions): LoadRequest {
  const query = new URLSearchParams({ sort, limit: `${limit}`, ...(cursor && { cursor }) })
  const headers = { authorization: `Bearer ${key}` }
  return { method: 'GET', path: `/v1/orders?${query}`, headers }
}

/** Issues a key for each account of the cases. */
export async function issueKeys(
  cases: readonly Pick<Pages, 'places'>[],
  services: Services,
): Promise<Keys> {
  const accountIds = cases.flatMap(({ places }) => places.map(({ accountId }) => accountId))
  return await issueAccountKeys(accountIds, services)
}

export async function issueAccountKeys(accountIds: readonly string[], services: Services) {
  const keys = new Map<string, string>()
  for (const accountId of new Set(accountIds)) {
    const grant = { accountId, scopes: ['orders:read'] as const, name: null, expiresAt: null }
    keys.set(accountId, (await issueKey(services, grant, Date.now())).key)
  }
  return keys
}

/**
 * Fetches every page once and compares its orders with the generated ones. From then on the length
 * shows whether a page is complete. This also warms up the source.
 * @throws Error for a wrong page
 */
export async function checkedRequests<C extends Pages>(
  { signal, log }: Pick<BenchContext, 'signal' | 'log'>,
  { name, loop, requestsOf, extraRows, readIds }: PageSource<C>,
  of: C,
): Promise<LoadRequest[]> {
  log(`checking ${of.places.length} pages: ${of.name}, ${name}`)
  const waiting = [...(await requestsOf(of))].entries()
  const checked: LoadRequest[] = []

  async function checkUntilDone() {
    for (const [at, request] of waiting) {
      signal.throwIfAborted()
      const response = await loop.fetch(request)
      const expected = of.places[at]?.following.slice(0, of.limit + extraRows) ?? []
      if (readIds(response).join() !== expected.join()) {
        throw new Error(`${of.name}: a page does not have its ${expected.length} orders`)
      }
      checked[at] = { ...request, expectedBytes: response.length }
    }
  }

  await Promise.all(Array.from({ length: CONCURRENCY }, checkUntilDone))
  return checked
}

/** A scenario for each case, in which every source is a contender with checked pages. */
export async function pageScenarios<C extends Pages>(
  context: BenchContext,
  cases: readonly C[],
  sources: readonly PageSource<C>[],
): Promise<Scenario<Sample>[]> {
  const scenarios: Scenario<Sample>[] = []
  for (const of of cases) {
    const contenders = []
    for (const source of sources) {
      const requests = await checkedRequests(context, source, of)
      contenders.push(closedLoopContender(context, { ...source, requests }))
    }
    scenarios.push({ name: of.name, contenders })
  }
  return scenarios
}
