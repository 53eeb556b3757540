import { Unavailable } from '../../../lib/unavailable.ts'
import { TOMBSTONES } from '../tombstone.ts'
import { type OpenSearch, read } from './client.ts'
import { completeRawHits, type SearchResponse } from './search-response.ts'

/** A document of a walk, with what was asked for of it. */
export interface ScannedHit {
  _id: string
  _routing?: string
  sort?: readonly unknown[]
  fields?: Readonly<Record<string, unknown[]>>
  _source?: unknown
}

export interface ScanOptions {
  client: OpenSearch
  index: string
  /** For each page, the answer's body included. */
  deadlineMs: number
  pageSize: number
  /** What is asked for of each document, as in the body of a search. */
  selection: Readonly<Record<string, unknown>>
  /** Which documents, as the filters of a search; all when absent. */
  filter?: readonly object[]
  /** How a page is asked for; once when absent. */
  attempt?<T>(work: () => Promise<T>): Promise<T>
}

/** Those that have a place in the order of account and order. */
const HAS_SORT_KEYS = [{ exists: { field: 'account_id' } }, { exists: { field: 'id' } }]

/** The query that finds documents without such a place. */
export const LACKS_SORT_KEYS = {
  bool: { must_not: [{ bool: { filter: HAS_SORT_KEYS } }, TOMBSTONES] },
}

/**
 * Every document of an index in the order of account and order, a page at a time. Each page is a search of
 * its own, without a point in time to hold: the place of a document never changes, so one that is there all
 * the while is in exactly one page.
 */
export async function* scanDocuments(options: ScanOptions): AsyncGenerator<readonly ScannedHit[]> {
  const { pageSize, selection, filter = [], attempt = (work) => work() } = options
  const sortedSearch = {
    ...selection,
    size: pageSize,
    query: { bool: { filter: [...HAS_SORT_KEYS, ...filter] } },
    sort: [{ account_id: 'asc' }, { id: 'asc' }],
  }
  for (let after: unknown; ; ) {
    const body = { ...sortedSearch, ...(after !== undefined && { search_after: after }) }
    const hits: ScannedHit[] = await attempt(() => searchPrimary(options, body))
    const isLast = hits.length < pageSize
    const page = isLast ? hits : withoutLastSortKey(hits)
    if (page.length > 0) yield page
    if (isLast) return
    after = page.at(-1)?.sort
  }
}

/** The hits of one search of the primary. */
export async function searchPrimary(
  { client, index, deadlineMs }: Pick<ScanOptions, 'client' | 'index' | 'deadlineMs'>,
  body: object,
): Promise<ScannedHit[]> {
  const request = { index, preference: '_primary', allow_partial_search_results: false }
  const response: SearchResponse = await read(deadlineMs, (call) =>
    client.search({ ...request, body: { track_total_hits: false, ...body } }, call),
  )
  const hits = completeRawHits(response)
  if (hits.every(isScannedHit)) return hits
  throw new Unavailable('OpenSearch answered without the hits that were asked for')
}

/** The greatest stamp of an index, of what can be found in it; 0 where there is nothing. */
export async function newestWriteTimestamp(
  options: Pick<ScanOptions, 'client' | 'index' | 'deadlineMs'>,
): Promise<number> {
  const query = { exists: { field: 'written_key' } }
  const body = { size: 1, _source: false, query, sort: [{ written_key: 'desc' }] }
  const [hit] = await searchPrimary(options, body)
  return Number(hit?.sort?.[0] ?? 0)
}

/** Two documents may have one place, where somebody put one by hand: the next page begins with both. */
function withoutLastSortKey(hits: readonly ScannedHit[]): readonly ScannedHit[] {
  const sortKey = ({ sort }: ScannedHit) => JSON.stringify(sort)
  const last = hits.at(-1)
  const before = hits.filter((hit) => last !== undefined && sortKey(hit) !== sortKey(last))
  return before.length > 0 ? before : hits
}

function isScannedHit(hit: unknown): hit is ScannedHit {
  return typeof Object(hit)._id === 'string'
}
