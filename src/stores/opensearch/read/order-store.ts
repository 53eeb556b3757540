import { type Instrument, noopInstrument } from '../../../lib/instrument.ts'
import { unbounded } from '../../../lib/request-scope.ts'
import type { OrderStore } from '../../../orders/order-store.ts'
import {
  type OpenSearch,
  type OpenSearchOperation,
  parseResponse,
  readRaw,
} from '../client/client.ts'
import { completeHits, positionOf } from '../client/search-response.ts'
import type { IndexNames } from '../index-names.ts'
import { documentId } from '../order-document.ts'
import { decodeOrder, decodePage, type OnDecode } from './decode-orders.ts'
import { buildLatestWriteSearch, buildSearch } from './search-body.ts'

export interface OpenSearchOrderStoreOptions {
  client: OpenSearch
  names: IndexNames
  /** For each call, the answer's body included; its request may leave it less. */
  deadlineMs: number
  instrument?: Instrument<OpenSearchOperation>
  onDecode?: OnDecode
}

/** The orders of a cluster. Each call is one request to one shard, so one snapshot. */
export function createOpenSearchOrderStore({
  client,
  names,
  deadlineMs,
  instrument = noopInstrument,
  onDecode = () => {},
}: OpenSearchOrderStoreOptions): OrderStore {
  return {
    async findPage(query, scope = unbounded) {
      const preference = query.sort === 'updated_at_asc' ? PRIMARY : oneCopy(query.accountId)
      const routing = encodeURIComponent(query.accountId)
      const request = {
        path: `/${names.orders}/_search?allow_partial_search_results=false&preference=${preference}&routing=${routing}`,
        body: JSON.stringify(buildSearch(query)),
      }
      // All of it, so that an answer which is no good does not count as one.
      return instrument('search', async () =>
        decodePage(await readRaw(client, deadlineMs, request, scope), query, onDecode),
      )
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
  }
}

/** Copies refresh at instants of their own: only one of them shows writes in their order for ever. */
const PRIMARY = '_primary'

/** Pages of an account that never move back in time, spread over the copies. */
function oneCopy(accountId: string): string {
  return `account-${encodeURIComponent(accountId)}`
}
