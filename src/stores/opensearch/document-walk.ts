import { Unavailable } from '../../lib/unavailable.ts'
import { ask, type OpenSearch } from './client.ts'
import { type SearchAnswer, wholeAnswer } from './hits.ts'
import { TOMBSTONES } from './tombstone.ts'

/** A document of a walk, with what was asked for of it. */
export interface WalkedHit {
  _id: string
  _routing?: string
  sort?: readonly unknown[]
  fields?: Readonly<Record<string, unknown[]>>
  _source?: unknown
}

export interface WalkOptions {
  client: OpenSearch
  index: string
  /** For each page, the answer's body included. */
  deadlineMs: number
  pageSize: number
  /** What is asked for of each document, as in the body of a search. */
  wanted: Readonly<Record<string, unknown>>
  /** Which documents, as the filters of a search; all when absent. */
  filter?: readonly object[]
  /** How a page is asked for; once when absent. */
  attempt?<T>(work: () => Promise<T>): Promise<T>
}

/** Those that have a place in the order of account and order. */
const PLACED = [{ exists: { field: 'account_id' } }, { exists: { field: 'id' } }]

/** The query that finds documents without such a place. */
export const UNPLACED = { bool: { must_not: [{ bool: { filter: PLACED } }, TOMBSTONES] } }

/**
 * Every document of an index in the order of account and order, a page at a time. Each page is a search of
 * its own, without a point in time to hold: the place of a document never changes, so one that is there all
 * the while is in exactly one page.
 */
export async function* walkDocuments(options: WalkOptions): AsyncGenerator<readonly WalkedHit[]> {
  const { pageSize, wanted, filter = [], attempt = (work) => work() } = options
  const inKeyOrder = {
    ...wanted,
    size: pageSize,
    query: { bool: { filter: [...PLACED, ...filter] } },
    sort: [{ account_id: 'asc' }, { id: 'asc' }],
  }
  for (let after: unknown; ; ) {
    const body = { ...inKeyOrder, ...(after !== undefined && { search_after: after }) }
    const hits: WalkedHit[] = await attempt(() => searchOnce(options, body))
    const isLast = hits.length < pageSize
    const page = isLast ? hits : withoutLastPlace(hits)
    if (page.length > 0) yield page
    if (isLast) return
    after = page.at(-1)?.sort
  }
}

/** The hits of one search of the primary. */
export async function searchOnce(
  { client, index, deadlineMs }: Pick<WalkOptions, 'client' | 'index' | 'deadlineMs'>,
  body: object,
): Promise<WalkedHit[]> {
  const request = { index, preference: '_primary', allow_partial_search_results: false }
  const answer: SearchAnswer = await ask(deadlineMs, (call) =>
    client.search({ ...request, body: { track_total_hits: false, ...body } }, call),
  )
  const hits = wholeAnswer(answer)
  if (hits.every(isWalked)) return hits
  throw new Unavailable('OpenSearch answered without the hits that were asked for')
}

/** The greatest stamp of an index, of what can be found in it; 0 where there is nothing. */
export async function newestStamp(
  options: Pick<WalkOptions, 'client' | 'index' | 'deadlineMs'>,
): Promise<number> {
  const query = { exists: { field: 'written_key' } }
  const newest = { size: 1, _source: false, query, sort: [{ written_key: 'desc' }] }
  const [hit] = await searchOnce(options, newest)
  return Number(hit?.sort?.[0] ?? 0)
}

/** Two documents may have one place, where somebody put one by hand: the next page begins with both. */
function withoutLastPlace(hits: readonly WalkedHit[]): readonly WalkedHit[] {
  const place = ({ sort }: WalkedHit) => JSON.stringify(sort)
  const last = hits.at(-1)
  const before = hits.filter((hit) => last !== undefined && place(hit) !== place(last))
  return before.length > 0 ? before : hits
}

function isWalked(hit: unknown): hit is WalkedHit {
  return typeof Object(hit)._id === 'string'
}
