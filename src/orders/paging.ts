import { digestOf } from '../lib/digest.ts'
import { joinOwned, type OwnedBytes } from '../lib/owned-bytes.ts'
import { type RequestScope, unbounded } from '../lib/request-scope.ts'
import type { CursorCodec, Listing, PagerState } from './cursor.ts'
import type { ListParams } from './list-params.ts'
import { ORDER_SCHEMA_VERSION } from './order.ts'
import {
  NULL_INSTANT_KEY,
  type OrderReader,
  type Position,
  type RenderedOrder,
} from './order-store.ts'

/** A rendered page. */
export interface ListPage {
  /** The list envelope. */
  json: OwnedBytes
  /** Equal digests mean equal bytes. */
  digest: string
}

/**
 * Returns one page of the account's orders. It releases `scope`: nothing that was read within it
 * may be read afterwards.
 * @throws InvalidParamError on `cursor`; also whatever the store throws
 */
export async function listOrders(
  { store, cursors }: { store: OrderReader; cursors: CursorCodec },
  accountId: string,
  { limit, cursor, sort, filters }: ListParams,
  scope: RequestScope = unbounded,
): Promise<ListPage> {
  const listing = { accountId, sort, filters }
  const state = cursor === undefined ? null : cursors.open(listing, cursor)
  const page = await readPage(store, listing, state, limit, scope)
  const nextCursor = page.next && cursors.seal(listing, page.next)
  const rendered = {
    json: renderList(page.rows, nextCursor),
    digest: digestOf(versionOf(page.rows, nextCursor)),
  }
  // The promises of the request still refer to this array. Emptied, the rows are collected young.
  page.rows.length = 0
  scope.release()
  return rendered
}

export interface Page {
  rows: RenderedOrder[]
  /** The state of the next page; `null` after the last page. */
  next: PagerState | null
}

const START: PagerState = { after: null, dated: null, mark: null, nextMark: null }

// Precedes every write, so all undated rows belong to the next pass.
const MARK_BEFORE_ALL_WRITES: Position = { key: 0, id: '' }

/**
 * Reads the page of at most `limit` orders after `state`, all searches within `scope`. A page costs
 * one search of the store, and up to three where it ends in the undated tail or leaves it.
 */
export async function readPage(
  store: OrderReader,
  listing: Listing,
  state: PagerState | null,
  limit: number,
  scope: RequestScope = unbounded,
): Promise<Page> {
  let rows: RenderedOrder[] = []
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

    const hasMore = found.length > remaining
    if (hasMore) found.length = remaining
    rows = rows.length === 0 ? found : [...rows, ...found]
    pass = advance(listing, pass, found)
    if (hasMore) return { rows, next: pass }
    if (pass.nextMark === null) return { rows, next: null }
    pass = { after: pass.dated, dated: pass.dated, mark: pass.nextMark, nextMark: null }
  }
}

/** Whether a page of `remaining` rows ends inside the undated tail, with more rows to follow. */
function endsInUndatedTail(listing: Listing, found: RenderedOrder[], remaining: number): boolean {
  if (listing.sort !== 'updated_at_asc' || found.length <= remaining) return false
  return found[remaining - 1]?.key === NULL_INSTANT_KEY
}

function advance(listing: Listing, pass: PagerState, delivered: RenderedOrder[]): PagerState {
  const last = delivered.at(-1)
  if (last === undefined) return pass
  const after = position(last)
  if (listing.sort === 'created_at_desc') return { ...pass, after }
  const dated = delivered.findLast((row) => row.key !== NULL_INSTANT_KEY)
  return { ...pass, after, dated: dated === undefined ? pass.dated : position(dated) }
}

function position({ key, id }: Position): Position {
  return { key, id }
}

/**
 * Equal versions mean equal bytes. Orders are upgraded when they are read, so the schema version is
 * part of it.
 */
function versionOf(rows: readonly RenderedOrder[], nextCursor: string | null): string {
  let version = `${ORDER_SCHEMA_VERSION} ${nextCursor}`
  for (const { id, tag } of rows) version += ` ${id} ${tag}`
  return version
}

const PREFIX = Buffer.from('{"object":"list","data":[')
const COMMA = Buffer.from(',')

/** The list envelope around orders that are already rendered; nothing is parsed. */
export function renderList(
  rows: readonly Pick<RenderedOrder, 'json'>[],
  nextCursor: string | null,
): OwnedBytes {
  const suffix = `],"has_more":${nextCursor !== null},"next_cursor":${JSON.stringify(nextCursor)}}`
  const parts: Uint8Array[] = [PREFIX]
  for (const row of rows) {
    if (parts.length > 1) parts.push(COMMA)
    parts.push(row.json)
  }
  parts.push(Buffer.from(suffix))
  return joinOwned(parts)
}
