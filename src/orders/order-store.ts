import { memoizeByObject } from '../lib/memoize-by-object.ts'
import type { RequestScope } from '../lib/request-scope.ts'
import type { Unavailable } from '../lib/unavailable.ts'
import { orderFilters } from './filter-table.ts'
import type { InstantRange, OrderFilters } from './filters.ts'
import type { LookupColumn } from './lookups.ts'

/**
 * The key of an order without `updated_at`, or without `paid_at`: finite, exact in a JSON number,
 * after every date.
 */
export const NULL_INSTANT_KEY = 8_640_000_000_000_000

export const sorts = ['created_at_desc', 'updated_at_asc'] as const
export type Sort = (typeof sorts)[number]

/** One condition of a listing, which each store translates into its query language. */
export type FilterCondition =
  | { column: string; values: readonly string[] }
  | LookupCondition
  | RangeCondition

/** One of these texts is among those of the order. */
export interface LookupCondition {
  lookup: LookupColumn
  values: readonly string[]
}

/** A range of keys; `orKey` matches beside it. */
export interface RangeCondition {
  column: string
  range: { gte?: number; lt?: number }
  orKey?: number
}

/** The conditions of the filters that are set, in the order of the table of filters. */
export const filterConditions = memoizeByObject(conditionsOf)

function conditionsOf(filters: OrderFilters): readonly FilterCondition[] {
  return Object.entries(orderFilters).flatMap(([name, filter]): FilterCondition[] => {
    const { column } = filter
    const given = filters[name as keyof OrderFilters]
    if (filter.kind !== 'range') {
      const values = given as readonly string[]
      if (values.length === 0) return []
      return [filter.kind === 'lookup' ? { lookup: filter.column, values } : { column, values }]
    }
    const range = given as InstantRange
    if (Object.keys(range).length === 0) return []
    return [filter.isNullable ? nullableCondition(column, range) : { column, range }]
  })
}

/**
 * A filter on `updated_at` or `paid_at` as a range of keys. A bound at either end excludes orders
 * without it, whose key is after every bound, unless the filter includes them.
 */
function nullableCondition(column: string, { gte, lt, orNull }: InstantRange): RangeCondition {
  const from = gte === undefined ? {} : { gte }
  if (orNull === undefined) {
    return { column, range: { ...from, lt: Math.min(lt ?? NULL_INSTANT_KEY, NULL_INSTANT_KEY) } }
  }
  return lt === undefined
    ? { column, range: from }
    : { column, range: { ...from, lt }, orKey: NULL_INSTANT_KEY }
}

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
 * The read side of the orders. An implementation answers each call from one snapshot, and writes
 * become visible in the order of their timestamps; the guarantees of `paging` rest on both. A call
 * ends with the `scope` of its request: it throws `Unavailable` once the deadline has passed, and
 * `ClientDisconnected` once the client has disconnected.
 */
export interface OrderStore {
  /**
   * Returns the next rows in the sort's order: fewer than `size` only when no more exist.
   * @throws FilterUnavailableError when a stored order may lack the field of a filter
   */
  findPage(query: PageQuery, scope?: RequestScope): Promise<RenderedOrder[]>
  /** Returns the greatest (written key, id) of the account, for `paging`; `null` without orders. */
  latestWrite(accountId: string, scope?: RequestScope): Promise<Position | null>
  /** Returns the account's view of one order as rendered JSON; `null` when it has none. */
  get(accountId: string, id: string, scope?: RequestScope): Promise<Uint8Array | null>
  /** The same for several views, in the order of the keys. Throws Unavailable. */
  getMany(keys: readonly ViewKey[]): Promise<FoundView[]>
}

/** What a request reads. */
export type OrderReader = Omit<OrderStore, 'getMany'>

/** A rendered view; `null` when there is none, and an error in place of a damaged one. */
export type FoundView = Uint8Array | Unavailable | null

/** The view that an account has of an order. */
export interface ViewKey {
  accountId: string
  orderId: string
}
