import { wallClock } from '../../../lib/clock.ts'
import { Unavailable } from '../../../lib/errors/unavailable.ts'
import { type Instrument, noopInstrument } from '../../../lib/instrument.ts'
import { type RequestScope, unbounded } from '../../../lib/request-scope.ts'
import { FilterUnavailableError } from '../../../orders/filters/filter-unavailable-error.ts'
import { newestGenerationOf } from '../../../orders/filters/filters.ts'
import type { FoundView, OrderStore, PageQuery, ViewKey } from '../../../orders/order-store.ts'
import { hasAlias } from '../client/aliases.ts'
import {
  type OpenSearch,
  type OpenSearchOperation,
  parseResponse,
  readRaw,
} from '../client/client.ts'
import { readEachSource } from '../client/documents/read-documents.ts'
import { isTombstoneBytes } from '../client/documents/tombstone.ts'
import { IndexMissing } from '../client/errors.ts'
import { completeHits, positionOf } from '../client/search/search-response.ts'
import type { IndexNames } from '../indices/index-names.ts'
import { documentAddress, documentId } from '../order-documents/order-document-source.ts'
import { readByOrder } from '../order-documents/read-by-order.ts'
import { decodeOrder, decodeSource, type OnDecode } from './decode-orders.ts'
import { createPageSearches, PRIMARY } from './page-searches.ts'
import { createPageWindows, type PageWindows } from './page-windows.ts'
import { buildLatestWriteSearch } from './search-body.ts'

export interface OpenSearchOrderStoreOptions {
  client: OpenSearch
  names: IndexNames
  /** For each call, the response body included; the scope of a request may shorten it. */
  deadlineMs: number
  instrument?: Instrument<OpenSearchOperation>
  onDecode?: OnDecode
  /** Shared by all requests of a process; new ones by default. */
  windows?: PageWindows
}

/**
 * Each call returns the response of one shard to one search, so it reads one snapshot. Filters
 * that an earlier release lacked search through an alias of their own: without it they are refused.
 */
export function createOpenSearchOrderStore({
  client,
  names,
  deadlineMs,
  instrument = noopInstrument,
  onDecode = () => {},
  windows = createPageWindows(wallClock),
}: OpenSearchOrderStoreOptions): OrderStore {
  const search = createPageSearches({ client, deadlineMs, onDecode })

  const searchAll = (index: string, query: PageQuery, scope: RequestScope) =>
    search({ index, query, bound: null, scope })

  /** Searches up to the probable end of the page first, and everything if it is not full there. */
  async function searchPage(query: PageQuery, scope: RequestScope) {
    const bound = windows.boundOf(query)
    if (bound !== null) {
      const rows = await search({ index: names.orders, query, bound, scope })
      if (rows.length === query.size) {
        windows.learn(query, rows)
        return rows
      }
      windows.forget(query)
    }
    const rows = await searchAll(names.orders, query, scope)
    windows.learn(query, rows)
    return rows
  }

  /** @throws the error again when the orders are missing too */
  async function nullIfNotFilterable(error: unknown): Promise<null> {
    if (!(error instanceof IndexMissing)) throw error
    if (await hasAlias(client, deadlineMs, names.orders)) return null
    throw error
  }

  function viewOf(source: Buffer | Unavailable | null, key: ViewKey): FoundView {
    if (source === null) return 'missing'
    if (source instanceof Unavailable) return 'unreadable'
    return isTombstoneBytes(source) ? null : decodeSource(source, key, onDecode)
  }

  return {
    async findPage(query, scope = unbounded) {
      const added = newestGenerationOf(query.filters)
      // Includes the decoding, so that an invalid response counts as a failure. A refused filter is
      // no failure of OpenSearch.
      const page = await instrument('search', () =>
        added === undefined
          ? searchPage(query, scope)
          : searchAll(names.filterAlias(added.generation), query, scope).catch(nullIfNotFilterable),
      )
      if (page === null) throw new FilterUnavailableError(added?.param ?? '')
      return page
    },

    async latestWrite(accountId, scope = unbounded) {
      const routing = encodeURIComponent(accountId)
      const request = {
        path: `/${names.orders}/_search?allow_partial_search_results=false&preference=${PRIMARY}&routing=${routing}`,
        body: JSON.stringify(buildLatestWriteSearch(accountId)),
      }
      const [hit] = await instrument('latest_write', async () =>
        completeHits(parseResponse(await readRaw(client, deadlineMs, request, scope))),
      )
      return hit === undefined ? null : positionOf(hit)
    },

    async get(accountId, orderId, scope = unbounded) {
      const id = encodeURIComponent(documentId({ accountId, orderId }))
      const path = `/${names.orders}/_doc/${id}?routing=${encodeURIComponent(accountId)}`
      const address = { index: names.orders, accountId, orderId }
      return instrument('get_order', async () =>
        decodeOrder(await readRaw(client, deadlineMs, { path }, scope), address, onDecode),
      )
    },

    async getMany(keys) {
      const bytesOf = (source: Buffer | Unavailable | null) =>
        source instanceof Buffer && !isTombstoneBytes(source) ? source.length : undefined
      const read = (some: readonly ViewKey[]) =>
        readEachSource(client, deadlineMs, {
          index: names.orders,
          docs: some.map(documentAddress),
        })
      return instrument('get_orders', async () => {
        const found = await readByOrder(keys, { read, bytesOf })
        const [first] = found
        // Where no shard responds, the whole call is repeated instead of each delivery.
        if (first instanceof Unavailable && found.every((one) => one instanceof Unavailable)) {
          throw first
        }
        return keys.map((key, at) => viewOf(found[at] ?? null, key))
      })
    },
  }
}
