import { type Observe, unobserved } from '../../lib/observe.ts'
import { ORDER_SHAPE } from '../../orders/order.ts'
import type { OrderStore } from '../../orders/order-store.ts'
import { ask, askForBytes, type OpenSearch, parseAnswer } from './client.ts'
import { cutDocument } from './cut.ts'
import { storedDocument } from './documents.ts'
import { positionOf, wholeHits } from './hits.ts'
import type { IndexNames } from './names.ts'
import type { OpenSearchOperation } from './operation.ts'
import { documentId, renderShown } from './order-source.ts'
import { latestWriteBody, sliceBody } from './search-body.ts'
import { type SliceReading, sliceRows } from './slice-rows.ts'

export interface OpenSearchOrderStoreOptions {
  client: OpenSearch
  names: IndexNames
  /** For each call, the answer's body included. */
  deadlineMs: number
  observe?: Observe<OpenSearchOperation>
  /** Told of every slice how its rows were had. */
  onSlice?(reading: SliceReading): void
}

/** The orders of a cluster. Each call is one request to one shard, so one snapshot. */
export function createOpenSearchOrderStore({
  client,
  names,
  deadlineMs,
  observe = unobserved,
  onSlice = () => {},
}: OpenSearchOrderStoreOptions): OrderStore {
  return {
    async slice(query) {
      const preference = query.sort === 'updated_at_asc' ? PRIMARY : oneCopy(query.accountId)
      const routing = encodeURIComponent(query.accountId)
      const question = {
        path: `/${names.orders}/_search?allow_partial_search_results=false&preference=${preference}&routing=${routing}`,
        body: JSON.stringify(sliceBody(query)),
      }
      const answer = await observe('search', () => askForBytes(client, deadlineMs, question))
      const { rows, reading } = sliceRows(answer, query)
      onSlice(reading)
      return rows
    },

    async latestWrite(accountId) {
      const body: object = latestWriteBody(accountId)
      const request = {
        index: names.orders,
        routing: accountId,
        preference: PRIMARY,
        allow_partial_search_results: false,
        body,
      }
      const look = () => ask(deadlineMs, (options) => client.search(request, options))
      const [hit] = wholeHits(await observe('latest_write', look))
      return hit === undefined ? null : positionOf(hit)
    },

    async get(accountId, orderId) {
      const id = encodeURIComponent(documentId({ accountId, orderId }))
      const path = `/${names.orders}/_doc/${id}?routing=${encodeURIComponent(accountId)}`
      const answer = await observe('get_order', () => askForBytes(client, deadlineMs, { path }))
      const cut = cutDocument(answer, { accountId, orderId }, ORDER_SHAPE)
      if (typeof cut !== 'string') return cut
      const document = storedDocument(names.orders, parseAnswer(answer))
      return document === null ? null : renderShown(document.source)
    },
  }
}

/** Copies refresh at instants of their own: only one of them shows writes in their order for ever. */
const PRIMARY = '_primary'

/** Pages of an account that never move back in time, spread over the copies. */
function oneCopy(accountId: string): string {
  return `account-${encodeURIComponent(accountId)}`
}
