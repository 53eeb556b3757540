import { type Observe, unobserved } from '../../lib/observe.ts'
import type { OrderStore } from '../../orders/order-store.ts'
import { ask, type OpenSearch } from './client.ts'
import { readDocument } from './documents.ts'
import { positionOf, wholeHits } from './hits.ts'
import type { IndexNames } from './names.ts'
import type { OpenSearchOperation } from './operation.ts'
import { documentId, renderShown } from './order-source.ts'
import { latestWriteBody, sliceBody } from './search-body.ts'

export interface OpenSearchOrderStoreOptions {
  client: OpenSearch
  names: IndexNames
  /** For each call, the answer's body included. */
  deadlineMs: number
  observe?: Observe<OpenSearchOperation>
}

/** The orders of a cluster. Each call is one request to one shard, so one snapshot. */
export function createOpenSearchOrderStore({
  client,
  names,
  deadlineMs,
  observe = unobserved,
}: OpenSearchOrderStoreOptions): OrderStore {
  async function search(accountId: string, preference: string, body: object) {
    const request = {
      index: names.orders,
      routing: accountId,
      preference,
      allow_partial_search_results: false,
      body,
    }
    return wholeHits(await ask(deadlineMs, (options) => client.search(request, options)))
  }

  return {
    async slice(query) {
      const preference = query.sort === 'updated_at_asc' ? PRIMARY : oneCopy(query.accountId)
      const body = sliceBody(query)
      const hits = await observe('search', () => search(query.accountId, preference, body))
      return hits.map((hit) => ({ ...positionOf(hit), json: renderShown(hit._source) }))
    },

    async latestWrite(accountId) {
      const body = latestWriteBody(accountId)
      const [hit] = await observe('latest_write', () => search(accountId, PRIMARY, body))
      return hit === undefined ? null : positionOf(hit)
    },

    async get(accountId, orderId) {
      const id = documentId({ accountId, orderId })
      const address = { index: names.orders, id, routing: accountId }
      const document = await observe('get_order', () => readDocument(client, deadlineMs, address))
      return document === null ? null : renderShown(document.source)
    },
  }
}

/** Copies refresh at instants of their own: only one of them shows writes in their order for ever. */
const PRIMARY = '_primary'

/** Pages of an account that never move back in time, spread over the copies. */
function oneCopy(accountId: string): string {
  return `account-${accountId}`
}
