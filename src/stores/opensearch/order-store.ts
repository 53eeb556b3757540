import { type Observe, unobserved } from '../../lib/observe.ts'
import { unbounded } from '../../lib/request-scope.ts'
import type { OrderStore } from '../../orders/order-store.ts'
import { askForBytes, type OpenSearch, parseAnswer } from './client.ts'
import { positionOf, wholeHits } from './hits.ts'
import type { IndexNames } from './names.ts'
import type { OpenSearchOperation } from './operation.ts'
import { foundOrder, type OnReading, sliceRows } from './order-answers.ts'
import { documentId } from './order-source.ts'
import { latestWriteBody, sliceBody } from './search-body.ts'

export interface OpenSearchOrderStoreOptions {
  client: OpenSearch
  names: IndexNames
  /** For each call, the answer's body included; its request may leave it less. */
  deadlineMs: number
  observe?: Observe<OpenSearchOperation>
  onReading?: OnReading
}

/** The orders of a cluster. Each call is one request to one shard, so one snapshot. */
export function createOpenSearchOrderStore({
  client,
  names,
  deadlineMs,
  observe = unobserved,
  onReading = () => {},
}: OpenSearchOrderStoreOptions): OrderStore {
  return {
    async slice(query, scope = unbounded) {
      const preference = query.sort === 'updated_at_asc' ? PRIMARY : oneCopy(query.accountId)
      const routing = encodeURIComponent(query.accountId)
      const question = {
        path: `/${names.orders}/_search?allow_partial_search_results=false&preference=${preference}&routing=${routing}`,
        body: JSON.stringify(sliceBody(query)),
      }
      // All of it, so that an answer which is no good does not count as one.
      return observe('search', async () =>
        sliceRows(await askForBytes(client, deadlineMs, question, scope), query, onReading),
      )
    },

    async latestWrite(accountId, scope = unbounded) {
      const routing = encodeURIComponent(accountId)
      const question = {
        path: `/${names.orders}/_search?allow_partial_search_results=false&preference=${PRIMARY}&routing=${routing}`,
        body: JSON.stringify(latestWriteBody(accountId)),
      }
      const [hit] = await observe('latest_write', async () =>
        wholeHits(parseAnswer(await askForBytes(client, deadlineMs, question, scope))),
      )
      return hit === undefined ? null : positionOf(hit)
    },

    async get(accountId, orderId, scope = unbounded) {
      const id = encodeURIComponent(documentId({ accountId, orderId }))
      const path = `/${names.orders}/_doc/${id}?routing=${encodeURIComponent(accountId)}`
      const address = { index: names.orders, accountId, orderId }
      return observe('get_order', async () =>
        foundOrder(await askForBytes(client, deadlineMs, { path }, scope), address, onReading),
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
