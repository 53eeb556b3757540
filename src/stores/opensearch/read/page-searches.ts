import { type Clock, monotonicClock } from '../../../lib/clock.ts'
import { freeOwned, type OwnedBytes } from '../../../lib/owned-bytes.ts'
import { ClientDisconnected, type RequestScope } from '../../../lib/request-scope.ts'
import {
  NULL_INSTANT_KEY,
  type PageQuery,
  type RenderedOrder,
} from '../../../orders/order-store.ts'
import { type OpenSearch, readRaw } from '../client/client.ts'
import { RequestRejectedError } from '../client/errors.ts'
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
  /** Monotonic milliseconds. */
  clock?: Clock
}

/** A request ends with its slowest search, so that one delays few others. */
const MAX_SEARCHES = 8
/**
 * In orders. A larger page costs more than its request, and searches side by side keep OpenSearch
 * busy while a page is sent.
 */
const MAX_JOINED_SIZE = 64
/**
 * For so long every search has a request of its own, so that a hanging node delays its own only.
 */
const ALONE_MS = 10_000
/** The share of the deadline after which a joined request counts as slow. */
const SLOW_SHARE = 0.25

/**
 * Returns a function that searches a page. The plain searches for small pages share an `_msearch`
 * within a turn of the event loop. With a request each, a page of 20 orders would take a third more
 * CPU time. A search that may be slow has a request of its own. So has every search for ten seconds
 * after a joined request has failed or taken long.
 */
export function createPageSearches({
  client,
  deadlineMs,
  onDecode,
  clock = monotonicClock,
}: PageSearchesOptions): (search: PageSearch) => Promise<RenderedOrder[]> {
  let aloneUntil = Number.NEGATIVE_INFINITY

  const searchAloneForNow = (): void => {
    aloneUntil = clock() + ALONE_MS
  }

  const read = (path: string, body: string, bounds: RequestScope) =>
    readRaw(client, deadlineMs, { path, body }, bounds)

  async function searchAlone({ index, query, bound, scope }: PageSearch, bounds = scope) {
    const { preference, routing } = targetOf(query)
    const path = `/${index}/_search?allow_partial_search_results=false&preference=${encodeURIComponent(preference)}&routing=${encodeURIComponent(routing)}`
    const response = await read(path, JSON.stringify(buildSearch(query, bound)), bounds)
    scope.onRelease(() => freeOwned(response))
    return decodePage(response, query, onDecode)
  }

  function searchEachAlone(searches: readonly PageSearch[]) {
    return Promise.all(searches.map((one) => searchAlone(one).catch((error: Error) => error)))
  }

  async function readTogether(searches: readonly PageSearch[], bounds: RequestScope) {
    let body = ''
    for (const { query, bound } of searches) {
      const target = { ...targetOf(query), allow_partial_search_results: false }
      body += `${JSON.stringify(target)}\n${JSON.stringify(buildSearch(query, bound))}\n`
    }
    const timer = setTimeout(searchAloneForNow, deadlineMs * SLOW_SHARE)
    try {
      return await read(`/${searches[0]?.index}/_msearch`, body, bounds)
    } catch (error) {
      if (!(error instanceof ClientDisconnected)) searchAloneForNow()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async function searchTogether(searches: readonly PageSearch[], bounds: RequestScope) {
    const [search, ...others] = searches
    if (search === undefined) return []
    if (others.length === 0) return [await searchAlone(search, bounds)]
    let response: OwnedBytes
    try {
      response = await readTogether(searches, bounds)
    } catch (error) {
      // Such as without the permission for an `_msearch`.
      if (error instanceof RequestRejectedError) return searchEachAlone(searches)
      throw error
    }
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
    isFast(search.query) && clock() >= aloneUntil
      ? searchJoined(search, search.scope)
      : searchAlone(search)
}

/** All undated orders have the same key, so a search within them visits all of them. */
function isFast(query: PageQuery): boolean {
  return isPlain(query) && query.size <= MAX_JOINED_SIZE && query.after?.key !== NULL_INSTANT_KEY
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
