import type { RequestScope } from '../lib/request-scope.ts'
import type { CursorCodec } from './cursor.ts'
import { renderList } from './list-envelope.ts'
import type { ListParams } from './list-params.ts'
import type { OrderStore } from './order-store.ts'
import { readPage } from './paging.ts'

/**
 * One page of the account's orders as the bytes of the list envelope (contract, "GET /v1/orders").
 * @throws ApiError `invalid_request` on `cursor`; whatever the store throws
 */
export async function listOrders(
  { store, cursors }: { store: OrderStore; cursors: CursorCodec },
  accountId: string,
  { limit, cursor, sort, filters }: ListParams,
  scope?: RequestScope,
): Promise<Buffer> {
  const listing = { accountId, sort, filters }
  const state = cursor === undefined ? null : cursors.open(listing, cursor)
  const page = await readPage(store, listing, state, limit, scope)
  return renderList(page.rows, page.next && cursors.seal(listing, page.next))
}
