import { Unavailable } from '../../../../lib/errors/unavailable.ts'
import { type OpenSearch, read } from '../client.ts'
import { TOMBSTONES } from '../documents/tombstone.ts'
import { primaryOf } from '../shards.ts'
import { completeHitsOfAllShards, type SearchResponse } from './search-response.ts'

/** A document of a scan, with the selected fields. */
export interface ScannedHit {
  _id: string
  _routing?: string
  sort?: readonly unknown[]
  fields?: Readonly<Record<string, unknown[]>>
  _source?: unknown
}

/** A name, or a function that is called before each request when the name may change. */
export type IndexToRead = string | (() => string)

export const nameOf = (index: IndexToRead) => (typeof index === 'string' ? index : index())

export interface ScanOptions {
  client: OpenSearch
  index: IndexToRead
  /** For each page, the response body included. */
  deadlineMs: number
  pageSize: number
  /** The part of the search body that selects fields. */
  selection: Readonly<Record<string, unknown>>
  /** Search filters; all documents when absent. */
  filter?: readonly object[]
  /** Runs each request by the name of the index, such as with retries; once when absent. */
  attempt?<T>(work: () => Promise<T>): Promise<T>
}

const HAS_SORT_KEYS = [{ exists: { field: 'account_id' } }, { exists: { field: 'id' } }]

/** The query for documents that {@link scanDocuments} omits, except tombstones. */
export const LACKS_SORT_KEYS = {
  bool: { must_not: [{ bool: { filter: HAS_SORT_KEYS } }, TOMBSTONES] },
}

/**
 * Scans an index in the order of account and order id. The sort keys of a document never change. So
 * a document that exists during the whole scan is in exactly one page, without a point in time.
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

/** Searches the primary of every shard, or of one. */
export async function searchPrimary(
  { client, index, deadlineMs }: Pick<ScanOptions, 'client' | 'index' | 'deadlineMs'>,
  body: object,
  shard?: number,
): Promise<ScannedHit[]> {
  const preference = shard === undefined ? '_primary' : primaryOf(shard)
  const request = { index: nameOf(index), preference, allow_partial_search_results: false }
  const response: SearchResponse = await read(deadlineMs, (call) =>
    client.search({ ...request, body: { track_total_hits: false, ...body } }, call),
  )
  const hits = completeHitsOfAllShards(response)
  if (hits.every(isScannedHit)) return hits
  throw new Unavailable('the search response of OpenSearch has no valid hits')
}

/** The greatest write timestamp of the searchable documents; 0 without any. */
export async function newestWriteTimestamp(
  options: Pick<ScanOptions, 'client' | 'index' | 'deadlineMs'>,
): Promise<number> {
  const query = { exists: { field: 'written_key' } }
  const body = { size: 1, _source: false, query, sort: [{ written_key: 'desc' }] }
  const [hit] = await searchPrimary(options, body)
  return Number(hit?.sort?.[0] ?? 0)
}

/**
 * Two documents share sort keys after a change by hand, on one shard or on two. The next page then
 * starts with both.
 */
function withoutLastSortKey(hits: readonly ScannedHit[]): readonly ScannedHit[] {
  const sortKey = ({ sort }: ScannedHit) => JSON.stringify(sort)
  const last = hits.at(-1)
  const before = hits.filter((hit) => last !== undefined && sortKey(hit) !== sortKey(last))
  return before.length > 0 ? before : hits
}

function isScannedHit(hit: unknown): hit is ScannedHit {
  return typeof Object(hit)._id === 'string'
}
