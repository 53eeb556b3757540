import { type Position, type Sort, sorts } from '../../../src/orders/order-store.ts'
import { sum } from '../measuring/figures.ts'
import { type BenchOrders, LARGE_ACCOUNT, type Row } from './orders.ts'

/** The place in an account's listing that a page follows. */
export interface Place {
  accountId: string
  sort: Sort
  /** How many orders of the listing precede the page. */
  rowsBefore: number
  /** The last of them; null before the first page. */
  after: Position | null
  /** The ids that follow, as many as the largest search reads. */
  following: readonly string[]
}

/** Pages of one kind, measured together. */
export interface Case {
  name: string
  account: 'large' | 'small'
  sort: Sort
  limit: number
  places: readonly Place[]
}

// OpenSearch caches a filter that repeats within the last 256. Filters of one caller's pages hardly
// ever repeat in production, so a case has more pages than that.
const PLACES = 512
/** Enough that each has several pages, and few enough that key lookups cost nothing. */
const SMALL_ACCOUNTS = 32
const LIMITS = [20, 100]
const FIRST_DEPTH = 0.25
const SPAN = 0.1
/** The largest page and the row that shows whether another page follows. */
const FOLLOWING = 101
/** The largest page of the API, by which the bench walks from place to place. */
const MAX_STEP = 100

/** A sort as the names of cases call it. */
export const shortSort = (sort: Sort) => sort.replace(/_at_.*/, '')

/** Both sorts, with `limit` 20 and 100, of a large account and of small ones. */
export function createCases(orders: BenchOrders): Case[] {
  const accounts = { large: [LARGE_ACCOUNT], small: orders.smallAccounts.slice(0, SMALL_ACCOUNTS) }
  const rows = Map.groupBy(orders.rows(), ({ accountId }) => accountId)
  return (['large', 'small'] as const).flatMap((account) =>
    sorts.flatMap((sort) => {
      const count = Math.ceil(PLACES / accounts[account].length)
      const places = accounts[account].flatMap((id) => placesOf(rows.get(id) ?? [], sort, count))
      const name = `${account} ${shortSort(sort)}`
      return LIMITS.map((limit) => ({ name: `${name} ${limit}`, account, sort, limit, places }))
    }),
  )
}

/** Mean orders of a page: a listing of a small account ends before a hundred. */
export function meanRows({ places, limit }: Case): number {
  return sum(places.map(({ following }) => Math.min(limit, following.length))) / places.length
}

/**
 * At most `count` places at 25% to 35% of the listing of `rows`, which all belong to one account: spread
 * over a long listing, adjacent in a short one.
 */
export function placesOf(rows: readonly Row[], sort: Sort, count: number): Place[] {
  const listing = rows.map((row) => positionOf(row, sort)).sort(comparing(sort))
  const first = Math.max(1, Math.floor(listing.length * FIRST_DEPTH))
  const step = Math.min(MAX_STEP, Math.max(1, Math.floor((listing.length * SPAN) / count)))
  return Array.from({ length: count }, (_, at) => first + at * step).flatMap((rowsBefore) => {
    const after = listing[rowsBefore - 1]
    const following = listing.slice(rowsBefore, rowsBefore + FOLLOWING).map(({ id }) => id)
    const accountId = rows[0]?.accountId
    if (!after || !accountId || following.length === 0) return []
    return [{ accountId, sort, rowsBefore, after, following }]
  })
}

function positionOf({ createdKey, updatedKey, orderId }: Row, sort: Sort): Position {
  return { key: sort === 'created_at_desc' ? createdKey : updatedKey, id: orderId }
}

// Ids are ASCII, so strings compare as their bytes do.
function comparing(sort: Sort) {
  const way = sort === 'created_at_desc' ? -1 : 1
  return (a: Position, b: Position) => way * (a.key - b.key || (a.id < b.id ? -1 : 1))
}
