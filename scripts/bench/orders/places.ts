import type { Position, Sort } from '../../../src/orders/order-store.ts'
import type { Row } from './orders.ts'

/** The place in an account's listing that a page follows. */
export interface Place {
  accountId: string
  sort: Sort
  /** How many orders of the listing come before the page. */
  rowsBefore: number
  /** The last of them; null before the first page. */
  after: Position | null
  /** The ids of what follows, as many as the largest search reads. */
  following: readonly string[]
}

const FIRST_DEPTH = 0.25
const SPAN = 0.1
/** The largest page, and the row that tells whether one follows. */
const FOLLOWING = 101
/** A page of the API, which is what the places are walked by. */
const MAX_STEP = 100

/**
 * At most `count` places about 30% deep in the listing of `rows`, all of one account: spread over a tenth
 * of a long listing, one after the other in a short one.
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

function positionOf(row: Row, sort: Sort): Position {
  const key = sort === 'created_at_desc' ? row.createdKey : row.updatedKey
  return { key, id: row.orderId }
}

// Ids are ASCII, so that the order of strings is that of bytes.
function comparing(sort: Sort) {
  const way = sort === 'created_at_desc' ? -1 : 1
  return (a: Position, b: Position) => way * (a.key - b.key || (a.id < b.id ? -1 : 1))
}
