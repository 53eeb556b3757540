import { type Position, type Sort, sorts } from '../../../src/orders/order-store.ts'
import type { PagerState } from '../../../src/orders/paging.ts'
import type { Place } from '../orders/places.ts'
import type { SizedAccount, SizedListing } from '../orders/sized-accounts.ts'

/** Of a listing, from its first page on. */
export const depths = {
  first: 0,
  '1%': 0.01,
  '25%': 0.25,
  '50%': 0.5,
  '99%': 0.99,
} as const satisfies Record<string, number>

export type Depth = keyof typeof depths

export const depthNames = Object.keys(depths) as Depth[]

/** Pages of an account, all about as deep in its listing. */
export interface DepthCase {
  name: string
  account: SizedAccount
  sort: Sort
  depth: Depth
  limit: number
  places: readonly Place[]
  /** What the cursor of the page at each place carries; null for the first page. */
  states: readonly (PagerState | null)[]
}

export const LIMIT = 20
/** More than the server looks back at before it keeps a filter, as one of an own page never is in life. */
const PLACES = 300
/** Of a listing: what the places of one depth are spread over. */
const SPAN = 0.01
/** A full page, and the row that tells whether another follows. */
const FOLLOWING = LIMIT + 1

/**
 * The pages of an account at each depth of both sorts; `mark` is the account's latest write. In a listing so
 * short that a depth has no room for its pages, they begin earlier: every page is full and is followed by more.
 */
export function depthCases(account: SizedAccount, mark: Position | null): DepthCase[] {
  return sorts.flatMap((sort) => {
    const listing = account.listing(sort)
    return depthNames.map((depth): DepthCase => {
      const places = rowsBefore(account.size, depth).map((rows) =>
        placeIn(listing, { account, sort, rows }),
      )
      const states = places.map(({ after }) => after && stateAfter({ after, sort, listing, mark }))
      const name = `${sort.replace(/_at_.*/, '')} ${depth}, of ${account.size}`
      return { name, account, sort, depth, limit: LIMIT, places, states }
    })
  })
}

/** How many orders come before each page. */
export function rowsBefore(size: number, depth: Depth): number[] {
  if (depth === 'first') return [0]
  const step = Math.max(1, Math.floor((size * SPAN) / PLACES))
  const last = size - FOLLOWING - (PLACES - 1) * step
  const first = Math.min(Math.floor(size * depths[depth]), last)
  return Array.from({ length: PLACES }, (_, at) => first + at * step)
}

interface PlaceOf {
  account: SizedAccount
  sort: Sort
  rows: number
}

function placeIn(listing: SizedListing, { account, sort, rows }: PlaceOf): Place {
  const after = rows === 0 ? null : listing.at(rows - 1)
  const following = Array.from({ length: FOLLOWING }, (_, at) => listing.at(rows + at).id)
  return { accountId: account.id, sort, rowsBefore: rows, after, following }
}

interface StateOf {
  after: Position
  sort: Sort
  listing: SizedListing
  mark: Position | null
}

/** As a client has it who came here from the first page on, while nothing was written. */
function stateAfter({ after, sort, listing, mark }: StateOf): PagerState {
  if (sort === 'created_at_desc') return { after, dated: null, mark: null, nextMark: null }
  const { lastDated } = listing
  const isUndated = lastDated !== null && after.key > lastDated.key
  return isUndated
    ? { after, dated: lastDated, mark: null, nextMark: mark }
    : { after, dated: after, mark: null, nextMark: null }
}
