import type { RequestScope } from '../lib/request-scope.ts'
import type { OrderStatus, PaymentMethod } from './statuses.ts'

/** The sort key of an order without `updated_at`: finite, exact in a JSON number, after every date. */
export const NULL_UPDATED_KEY = 8_640_000_000_000_000

export const sorts = ['created_at_desc', 'updated_at_asc'] as const
export type Sort = (typeof sorts)[number]

/** Epoch milliseconds; `gte` inclusive, `lt` exclusive. */
export interface InstantRange {
  gte?: number
  lt?: number
}

/** Different filters combine with AND, the values of one with OR; an empty list filters nothing. */
export interface OrderFilters {
  statuses: readonly OrderStatus[]
  paymentMethods: readonly PaymentMethod[]
  created: InstantRange
  /** With a bound at either end, orders whose `updated_at` is null are left out. */
  updated: InstantRange
}

/** A filter on `updated_at` as a range of keys: at either end, it leaves out the orders that have none. */
export function datedRange({ gte, lt }: InstantRange): InstantRange {
  if (gte === undefined && lt === undefined) return {}
  return {
    ...(gte !== undefined && { gte }),
    lt: Math.min(lt ?? NULL_UPDATED_KEY, NULL_UPDATED_KEY),
  }
}

/** A place in a sequence ordered by (key, id): epoch milliseconds, then the order's id in byte order. */
export interface Position {
  key: number
  id: string
}

/** Whether a place comes after another one in a sort: no two orders have the same. */
export function isAfter(before: Position, after: Position, sort: Sort): boolean {
  const [first, second] = sort === 'created_at_desc' ? [after, before] : [before, after]
  return first.key < second.key || (first.key === second.key && first.id < second.id)
}

export interface PageQuery {
  accountId: string
  sort: Sort
  filters: OrderFilters
  /** Only orders after this place in the sort; `null` starts at its beginning. */
  after: Position | null
  /** Of the orders without `updated_at`, only those written after this mark; `null` takes all. */
  nullsWrittenAfter: Position | null
  /** At most this many rows. */
  size: number
}

/** One order of a slice: its place in the sort and the public JSON, already rendered. */
export interface RenderedOrder extends Position {
  json: Uint8Array
}

/**
 * The read side of the orders. Implementations answer each call from one snapshot, and writes become
 * visible in the order of their stamps; the guarantees of `paging` rest on both. A call for a request ends when its
 * `scope` does: `Unavailable` where its time is over, `CallerGone` where its caller disconnected.
 */
export interface OrderStore {
  /** The next rows of the account in the sort's order: fewer than `size` only when there are no more. */
  findPage(query: PageQuery, scope?: RequestScope): Promise<RenderedOrder[]>
  /** The greatest (written key, id) of the account: the mark of `paging`; `null` without orders. */
  latestWrite(accountId: string, scope?: RequestScope): Promise<Position | null>
  /** The account's view of one order as rendered JSON; `null` when it has none. */
  get(accountId: string, id: string, scope?: RequestScope): Promise<Uint8Array | null>
}
