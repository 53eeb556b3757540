import { type RequestScope, unbounded } from '../lib/request-scope.ts'
import {
  NULL_UPDATED_KEY,
  type OrderStore,
  type PageQuery,
  type Position,
  type RenderedOrder,
} from './order-store.ts'

/**
 * The position of a listing between two pages; the content of a cursor. `created_at_desc` uses
 * `after` alone. `updated_at_asc` runs in passes over the dated orders and the undated tail: see
 * `paging.md`.
 */
export interface PagerState {
  /** The last row delivered in this pass; `null` when the pass starts at the first order. */
  after: Position | null
  /** The last dated row delivered in any pass. */
  dated: Position | null
  /** Earlier passes cover the undated rows written up to this mark; `null` in the first pass. */
  mark: Position | null
  /** The mark of the next pass; `null` until a page ends inside the undated tail. */
  nextMark: Position | null
}

export interface Page {
  rows: RenderedOrder[]
  /** The state of the next page; `null` after the last page. */
  next: PagerState | null
}

/** The account, sort and filters, which are the same for all pages of a listing. */
export type Listing = Pick<PageQuery, 'accountId' | 'sort' | 'filters'>

const START: PagerState = { after: null, dated: null, mark: null, nextMark: null }

// Precedes every write, so all undated rows belong to the next pass.
const MARK_BEFORE_ALL_WRITES: Position = { key: 0, id: '' }

/**
 * Reads the page of at most `limit` orders after `state`, all searches within `scope`. A page costs
 * one search, and up to three where it ends in the undated tail or leaves it.
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

/** Whether a page of `remaining` rows ends inside the undated tail, with more rows to follow. */
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
