import { isValidationError, parseChange } from '../../../src/indexing/projection/change.ts'
import type { SourceOrder } from '../../../src/indexing/projection/source-order.ts'
import { formatInstantOrNull } from '../../../src/lib/instant.ts'
import type { Order } from '../../../src/orders/order.ts'
import type { Sort } from '../../../src/orders/order-store.ts'

/** The query of a listing. */
export interface Listing {
  accountId: string
  sort: Sort
  /** Filters by status; all orders when absent. */
  status?: Order['status']
}

/** The expected responses, computed without a store. */
export interface Oracle {
  accountIds: readonly string[]
  /** The whole listing in its sort order. */
  list(listing: Listing): readonly Order[]
  find(accountId: string, orderId: string): Order | undefined
}

/** The oracle of orders that are loaded once and never change. */
export function createOracle(sources: Iterable<SourceOrder>): Oracle {
  const accounts = new Map<string, Map<string, Order>>()
  for (const source of sources) {
    for (const { accountId, order } of viewsOf(source)) {
      const orders = accounts.get(accountId) ?? new Map<string, Order>()
      accounts.set(accountId, orders.set(order.id, order))
    }
  }
  return {
    accountIds: [...accounts.keys()],
    list({ accountId, sort, status }) {
      const orders = [...(accounts.get(accountId)?.values() ?? [])]
      return orders
        .filter((order) => status === undefined || order.status === status)
        .sort(comparisons[sort])
    },
    find: (accountId, orderId) => accounts.get(accountId)?.get(orderId),
  }
}

function viewsOf(source: SourceOrder): { accountId: string; order: Order }[] {
  const change = parseChange(JSON.stringify(source))
  if (isValidationError(change)) throw new Error(`${source.id} is rejected: ${change.path}`)
  const { changedAt } = change
  const updated_at = formatInstantOrNull(changedAt)
  return change.views.map(({ accountId, order }) => ({
    accountId,
    order: JSON.parse(JSON.stringify({ ...order, updated_at })), // As parsed from a response.
  }))
}

// All instants are UTC with milliseconds and ids are ASCII, so text order equals value order.
const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b))
const AFTER_EVERY_INSTANT = '~'
const comparisons = {
  created_at_desc: (a: Order, b: Order) =>
    compare(b.created_at, a.created_at) || compare(b.id, a.id),
  updated_at_asc: (a: Order, b: Order) =>
    compare(a.updated_at ?? AFTER_EVERY_INSTANT, b.updated_at ?? AFTER_EVERY_INSTANT) ||
    compare(a.id, b.id),
} as const satisfies Record<Sort, (a: Order, b: Order) => number>
