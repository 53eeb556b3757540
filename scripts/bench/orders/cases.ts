import type { PagerState } from '../../../src/orders/cursor.ts'
import type { OrderFilters } from '../../../src/orders/filters/filters.ts'
import { type Position, type Sort, sorts } from '../../../src/orders/order-store.ts'
import type { Account, BenchOrders, Listing } from './orders.ts'

/** The place in an account's listing where a page begins. */
export interface Place {
  accountId: string
  sort: Sort
  /** The orders that the filters match. */
  listing: Listing
  /** None when absent. */
  filters?: OrderFilters
  /** How many orders precede the page. */
  row: number
}

/** Pages of one kind, measured together. */
export interface Case {
  name: string
  limit: number
  places: readonly Place[]
}

interface Spread {
  /** A share of the listing, where the first page begins. */
  depth: number
  /** The share of the listing over which the pages are spread, so far as it is long enough. */
  span: number
  count: number
  /** Pages begin earlier in a short listing, so that so many orders follow each. */
  following: number
}

// OpenSearch caches a filter that repeats within the last 256. Filters of one caller's pages hardly
// ever repeat in production, so a case has more pages than that.
const PLACES = 512
/** Enough that each has several pages, and few enough that key lookups cost nothing. */
const SMALL_ACCOUNTS = 32
const LIMITS = [20, 100]
const SPREAD = { depth: 0.25, span: 0.1, following: 1 }

/** A sort as the names of cases call it. */
export const shortSort = (sort: Sort) => sort.replace(/_at_.*/, '')

/** Both sorts, with `limit` 20 and 100, of a large account and of small ones. */
export function createCases({ accounts }: BenchOrders): Case[] {
  const measured = {
    large: accounts.slice(0, 1),
    small: accounts.slice(2, 2 + SMALL_ACCOUNTS),
  }
  return Object.entries(measured).flatMap(([name, some]) =>
    sorts.flatMap((sort) => {
      const count = Math.ceil(PLACES / some.length)
      const places = some.flatMap((account) => placesOf(account, sort, { ...SPREAD, count }))
      return LIMITS.map((limit) => ({ name: `${name} ${shortSort(sort)} ${limit}`, limit, places }))
    }),
  )
}

export function placesOf(account: Account, sort: Sort, spread: Spread): Place[] {
  const { depth, span, count, following } = spread
  const { id: accountId, size } = account
  const listing = account.listing(sort)
  if (depth === 0) return [{ accountId, sort, listing, row: 0 }]
  const step = Math.max(1, Math.floor((size * span) / count))
  const latest = size - following - (count - 1) * step
  const first = Math.max(1, Math.min(Math.floor(size * depth), latest))
  const rows = Array.from({ length: count }, (_, at) => first + at * step)
  return rows.filter((row) => row < size).map((row) => ({ accountId, sort, listing, row }))
}

/** The accounts of the pages. */
export function accountsOf(cases: readonly Case[]): string[] {
  return cases.flatMap(({ places }) => places.map(({ accountId }) => accountId))
}

/** The ids of the page. */
export function idsOf({ listing, row }: Place, limit: number): string[] {
  const length = Math.min(limit, listing.size - row)
  return Array.from({ length }, (_, at) => listing.at(row + at).id)
}

/** The order before the page; null before the first page. */
export function positionBefore({ listing, row }: Place): Position | null {
  return row === 0 ? null : listing.at(row - 1)
}

/**
 * The state of a client that paged here from the start, without concurrent writes; null before the
 * first page. `latestWrite` is that of the account.
 */
export function stateAt(place: Place, latestWrite: Position | null): PagerState | null {
  const after = positionBefore(place)
  if (after === null) return null
  const unmarked = { after, dated: null, mark: null, nextMark: null }
  if (place.sort === 'created_at_desc') return unmarked
  const { lastDated } = place.listing
  const isUndated = lastDated !== null && after.key > lastDated.key
  return isUndated
    ? { ...unmarked, dated: lastDated, nextMark: latestWrite }
    : { ...unmarked, dated: after }
}
