import type { Unavailable } from '../lib/errors/unavailable.ts'
import type { RequestScope } from '../lib/request-scope.ts'
import type { OrderFilters } from './filters/filters.ts'

/**
 * The key of an order without `updated_at`, or without `paid_at`: finite, exact in a JSON number,
 * after every date.
 */
export const NULL_INSTANT_KEY = 8_640_000_000_000_000

export const sorts = ['created_at_desc', 'updated_at_asc'] as const
export type Sort = (typeof sorts)[number]

/**
 * A place in a sequence ordered by (key, id): epoch milliseconds, then the order id in byte order.
 */
export interface Position {
  key: number
  id: string
}

/** Whether `position` follows `other` in a sort; two orders never have the same position. */
export function isAfter(position: Position, other: Position, sort: Sort): boolean {
  return sort === 'created_at_desc' ? precedes(position, other) : precedes(other, position)
}

function precedes(one: Position, other: Position): boolean {
  return one.key < other.key || (one.key === other.key && one.id < other.id)
}

export interface PageQuery {
  accountId: string
  sort: Sort
  filters: OrderFilters
  /** Only orders after this position in the sort; `null` starts at the beginning. */
  after: Position | null
  /** Of the undated orders, only those written after this mark; `null` includes all. */
  nullsWrittenAfter: Position | null
  /** The maximum number of rows. */
  size: number
}

/** One order of a page: its position in the sort and the public JSON, already rendered. */
export interface RenderedOrder extends Position {
  json: Uint8Array
  /** Equal tags of one order mean equal bytes, in one release. */
  tag: string
}

/**
 * The read side of the orders. An implementation serves each call from one snapshot, and writes
 * become visible in the order of their timestamps; the guarantees of `paging` rest on both. A call
 * ends with the `scope` of its request: it throws `Unavailable` once the deadline has passed, and
 * `ClientDisconnected` once the client has disconnected.
 */
export interface OrderStore {
  /**
   * Returns the next rows in the sort's order: fewer than `size` only when no more exist. The
   * caller owns the array; `scope` may own the bytes of the rows.
   * @throws FilterUnavailableError when a stored order may lack the field of a filter
   */
  findPage(query: PageQuery, scope?: RequestScope): Promise<RenderedOrder[]>
  /** Returns the greatest (written key, id) of the account, for `paging`; `null` without orders. */
  latestWrite(accountId: string, scope?: RequestScope): Promise<Position | null>
  /** Returns the account's view of one order as rendered JSON; `null` when it has none. */
  get(accountId: string, id: string, scope?: RequestScope): Promise<Uint8Array | null>
  /** Returns several views, in the order of the keys. @throws Unavailable when none can be read */
  getMany(keys: readonly ViewKey[]): Promise<FoundView[]>
}

/** What a request reads. */
export type OrderReader = Omit<OrderStore, 'getMany'>

/** A rendered view; `null` when there is none, and an error in place of a damaged one. */
export type FoundView = Uint8Array | Unavailable | UnreadView | null

/**
 * Why the existence of a view is unknown. `missing`: no trace of one was found, but an outdated
 * copy may have responded. On OpenSearch a removal leaves a trace until the next reindex; the
 * embedded store has one copy, and returns `null`. `unreadable`: no copy responded for this view.
 */
export type UnreadView = 'missing' | 'unreadable'

/** The view that an account has of an order. */
export interface ViewKey {
  accountId: string
  orderId: string
}
