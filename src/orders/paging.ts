import { type RequestScope, unbounded } from '../lib/request-scope.ts'
import {
  NULL_UPDATED_KEY,
  type OrderStore,
  type PageQuery,
  type Position,
  type RenderedOrder,
} from './order-store.ts'

/**
 * Where a listing stands between two pages; what a cursor carries.
 *
 * `created_at_desc` is a keyset on (created key, id) and needs `after` alone: both never change, so
 * nothing moves across the cursor.
 *
 * `updated_at_asc` is a keyset on (updated key, id). The writer stamps changes in the order in which
 * they become visible, so among dated orders everything written later lies after the cursor. The tail
 * of orders without `updated_at` breaks that: while a client pages through it by id, an order that gets
 * its first date moves to *before* the cursor, and a new one may have an id before it. So a listing runs
 * in passes. A pass reads the dated orders after `dated`, then the undated ones written after `mark`.
 * When a page first ends inside the undated tail, `nextMark` is taken **before** the rows of that page
 * are read: whatever the tail can lose from then on is either dated after `dated` or written after
 * `nextMark`, and the next pass reads just that. A pass that one search finishes saw one snapshot of
 * everything left, so it ends the listing. (A clock in place of the mark would repeat fresh rows until
 * they age, or miss delayed ones.)
 */
export interface PagerState {
  /** The last row delivered in this pass; `null` at the start of one that begins at the very beginning. */
  after: Position | null
  /** The last dated row delivered in any pass. */
  dated: Position | null
  /** Undated rows written up to here belong to an earlier pass; `null` in the first. */
  mark: Position | null
  /** The mark of the next pass; `null` until a page ends inside the undated tail. */
  nextMark: Position | null
}

export interface Page {
  rows: RenderedOrder[]
  /** Where the next page starts; `null` when nothing follows. */
  next: PagerState | null
}

/** What is listed: the account, the sort and the filters stay the same over all pages. */
export type Listing = Pick<PageQuery, 'accountId' | 'sort' | 'filters'>

const START: PagerState = { after: null, dated: null, mark: null, nextMark: null }

// Before every stamp: with it, all undated rows belong to the next pass.
const MARK_BEFORE_ALL_WRITES: Position = { key: 0, id: '' }

/**
 * Reads the page of at most `limit` orders that follows `state` (contract, "Ordering" and "Paging
 * procedure"). One search a page; up to three where a page ends or leaves the undated tail, all of them within `scope`.
 */
export async function readPage(
  store: OrderStore,
  listing: Listing,
  state: PagerState | null,
  limit: number,
  scope: RequestScope = unbounded,
): Promise<Page> {
  const rows: RenderedOrder[] = []
  let pass = state ?? START

  for (;;) {
    const remaining = limit - rows.length
    const search = () =>
      store.findPage(
        { ...listing, after: pass.after, nullsWrittenAfter: pass.mark, size: remaining + 1 },
        scope,
      )

    let found = await search()
    if (pass.nextMark === null && endsInUndatedTail(listing, found, remaining)) {
      const mark = (await store.latestWrite(listing.accountId, scope)) ?? MARK_BEFORE_ALL_WRITES
      found = await search()
      if (endsInUndatedTail(listing, found, remaining)) pass = { ...pass, nextMark: mark }
    }

    const delivered = found.slice(0, remaining)
    rows.push(...delivered)
    pass = advance(listing, pass, delivered)
    if (found.length > remaining) return { rows, next: pass }
    if (pass.nextMark === null) return { rows, next: null }
    pass = { after: pass.dated, dated: pass.dated, mark: pass.nextMark, nextMark: null }
  }
}

/** Whether a page of `wanted` rows leaves off inside the undated tail with more to come. */
function endsInUndatedTail(listing: Listing, found: RenderedOrder[], remaining: number): boolean {
  if (listing.sort !== 'updated_at_asc' || found.length <= remaining) return false
  return found[remaining - 1]?.key === NULL_UPDATED_KEY
}

function advance(listing: Listing, pass: PagerState, delivered: RenderedOrder[]): PagerState {
  const last = delivered.at(-1)
  if (last === undefined) return pass
  const after = position(last)
  if (listing.sort === 'created_at_desc') return { ...pass, after }
  const dated = delivered.findLast((row) => row.key !== NULL_UPDATED_KEY)
  return { ...pass, after, dated: dated === undefined ? pass.dated : position(dated) }
}

function position({ key, id }: Position): Position {
  return { key, id }
}
