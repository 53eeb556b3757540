import { freeOwned } from '../../../lib/owned-bytes.ts'
import type { RequestScope } from '../../../lib/request-scope.ts'
import type { PageQuery, RenderedOrder } from '../../../orders/order-store.ts'
import { type OpenSearch, readRaw } from '../client/client.ts'
import { joinCalls } from '../client/joined-calls.ts'
import { decodePage, decodePages, type OnDecode } from './decode-orders.ts'
import { buildSearch, isPlain } from './search-body.ts'

export interface PageSearch {
  index: string
  query: PageQuery
  /** The last key that the search considers; `null` for all. */
  bound: number | null
  /** The request of the page. It owns the bytes of the rows. */
  scope: RequestScope
}

export interface PageSearchesOptions {
  client: OpenSearch
  /** For each request, the response body included; the scope of a search may shorten it. */
  deadlineMs: number
  onDecode: OnDecode
}

/** The slowest search of a request delays the others. */
const MAX_SEARCHES = 8
/**
 * In orders. A larger page costs more than its request, and searches side by side keep OpenSearch
 * busy while a page is sent.
 */
const MAX_JOINED_SIZE = 64

/**
 * Returns a function that searches a page. The plain searches for small pages share an `_msearch`
 * within a turn of the event loop; with a request each, a page of 20 orders would take a third more
 * CPU time. A search with filters may be slow, so it has a request of its own.
 */
export function createPageSearches({
  client,
  deadlineMs,
  onDecode,
}: PageSearchesOptions): (search: PageSearch) => Promise<RenderedOrder[]> {
  const read = (path: string, body: string, scope: RequestScope) =>
    readRaw(client, deadlineMs, { path, body }, scope)

  async function searchAlone({ index, query, bound, scope }: PageSearch, shared = scope) {
    const { preference, routing } = targetOf(query)
    const path = `/${index}/_search?allow_partial_search_results=false&preference=${encodeURIComponent(preference)}&routing=${encodeURIComponent(routing)}`
    const response = await read(path, JSON.stringify(buildSearch(query, bound)), shared)
    scope.onRelease(() => freeOwned(response))
    return decodePage(response, query, onDecode)
  }

  async function searchTogether(searches: readonly PageSearch[], shared: RequestScope) {
    const [search, ...others] = searches
    if (search === undefined) return []
    if (others.length === 0) return [await searchAlone(search, shared)]
    let body = ''
    for (const { query, bound } of searches) {
      const target = { ...targetOf(query), allow_partial_search_results: false }
      body += `${JSON.stringify(target)}\n${JSON.stringify(buildSearch(query, bound))}\n`
    }
    const response = await read(`/${search.index}/_msearch`, body, shared)
    let readers = searches.length
    for (const { scope } of searches) {
      scope.onRelease(() => {
        readers -= 1
        if (readers === 0) freeOwned(response)
      })
    }
    const queries = searches.map(({ query }) => query)
    return decodePages(response, queries, onDecode)
  }

  const searchJoined = joinCalls({ maxCalls: MAX_SEARCHES, deadlineMs, send: searchTogether })
  return (search) =>
    isPlain(search.query) && search.query.size <= MAX_JOINED_SIZE
      ? searchJoined(search, search.scope)
      : searchAlone(search)
}

/** The shard of the account, and the copy of it that responds. */
function targetOf({ accountId, sort }: PageQuery) {
  const preference = sort === 'updated_at_asc' ? PRIMARY : oneCopy(accountId)
  return { routing: accountId, preference }
}

/**
 * Replicas refresh at different times, so only the primary always shows writes in order: paging.md.
 */
export const PRIMARY = '_primary'

/** Pins an account to one shard copy, and spreads accounts over the copies. */
function oneCopy(accountId: string): string {
  return `account-${accountId}`
}
