import { isDeepStrictEqual } from 'node:util'
import type { Order } from '../../../src/orders/order.ts'
import type { Listing } from './oracle.ts'

/** A listing that is read page by page. */
export interface PageWalk {
  readonly accountId: string
  /** Where the next page starts; `null` at the beginning and at the end. */
  readonly cursor: string | null
  readonly isOver: boolean
  /** The path of the next page, of at most `limit` orders. */
  path(limit: number): string
  /** Checks that page; a violation ends the walk. */
  accept(page: unknown, limit: number): string | undefined
}

interface ListBody {
  data: { id?: unknown }[]
  has_more: boolean
  next_cursor: string | null
}

/** A walk whose pages are compared with `orders`, the whole listing. */
export function createPageWalk(listing: Listing, orders: readonly Order[]): PageWalk {
  const { accountId, sort, status } = listing
  let cursor: string | null = null
  let shown = 0
  let isOver = false

  function faultOf({ data, has_more, next_cursor }: ListBody, limit: number): string | undefined {
    const due = orders.slice(shown, shown + limit)
    if (!isDeepStrictEqual(data, due)) {
      const ids = (rows: readonly { id?: unknown }[]) => rows.map(({ id }) => id).join()
      return `after ${shown} orders, expected ${ids(due)}, got ${ids(data)}`
    }
    const isMore = shown + limit < orders.length
    if (has_more === isMore && (next_cursor !== null) === isMore) return undefined
    return `after ${shown + limit} of ${orders.length} orders: has_more ${has_more}, next_cursor ${next_cursor}`
  }

  return {
    accountId,
    get cursor() {
      return cursor
    },
    get isOver() {
      return isOver
    },

    path(limit) {
      const query = new URLSearchParams({
        sort,
        limit: `${limit}`,
        ...(status && { status }),
        ...(cursor !== null && { cursor }),
      })
      return `/v1/orders?${query}`
    },

    accept(body, limit) {
      const page = body as ListBody // Validated by the caller.
      const fault = faultOf(page, limit)
      cursor = page.next_cursor
      shown += page.data.length
      isOver = fault !== undefined || cursor === null
      return fault && `${JSON.stringify(listing)}: ${fault}`
    },
  }
}
