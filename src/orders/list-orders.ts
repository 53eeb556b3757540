import type { RequestScope } from '../lib/request-scope.ts'
import type { CursorCodec } from './cursor.ts'
import type { ListParams } from './list-params.ts'
import type { OrderStore, RenderedOrder } from './order-store.ts'
import { readPage } from './paging.ts'

/**
 * Returns one page of the account's orders as the bytes of the list envelope.
 * @throws InvalidParamError on `cursor`; also whatever the store throws
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

const PREFIX = Buffer.from('{"object":"list","data":[')
const COMMA = Buffer.from(',')

/** The list envelope around orders that are already rendered; nothing is parsed. */
export function renderList(rows: readonly RenderedOrder[], nextCursor: string | null): Buffer {
  const suffix = `],"has_more":${nextCursor !== null},"next_cursor":${JSON.stringify(nextCursor)}}`
  const parts: Uint8Array[] = [PREFIX]
  for (const row of rows) {
    if (parts.length > 1) parts.push(COMMA)
    parts.push(row.json)
  }
  parts.push(Buffer.from(suffix))
  return Buffer.concat(parts)
}
