import { Unavailable } from '../../../../lib/errors/unavailable.ts'
import { type OpenSearch, parseResponse, readRaw } from '../client.ts'
import { type DocumentState, documentState } from '../documents/document-state.ts'
import { readDocuments } from '../documents/read-documents.ts'
import { refreshIndices } from '../shards.ts'
import { searchAfter } from './search-after.ts'
import { completeRawHits, type SearchResponse } from './search-response.ts'

/** The index of one kind of document, by its alias. */
export interface IndexTarget {
  client: OpenSearch
  index: string
  /** For each request, the response body included. */
  deadlineMs: number
}

/** A document with the state that a write must still find. */
export interface FoundDocument {
  id: string
  source: unknown
  state: DocumentState
}

export interface FoundHit extends FoundDocument {
  sort: unknown
}

export interface DocumentSearchResponse extends SearchResponse {
  hits?: { hits?: unknown; total?: { value?: number } }
  aggregations?: Record<string, unknown>
}

/** A dispatcher searches several times a second, so a response without hits is small. */
const FILTER_PATH =
  'timed_out,_shards.total,_shards.successful,_shards.failed,hits.total.value,hits.hits,aggregations'

/** Searches one copy of the shard. @throws Unavailable also when a hit may be missing */
export async function searchRaw(
  { client, index, deadlineMs }: IndexTarget,
  body: object,
  preference = '_primary',
): Promise<DocumentSearchResponse> {
  const path = `/${index}/_search?preference=${preference}&allow_partial_search_results=false&filter_path=${FILTER_PATH}`
  const request = { path, body: JSON.stringify({ track_total_hits: false, ...body }) }
  const response: DocumentSearchResponse = parseResponse(await readRaw(client, deadlineMs, request))
  completeRawHits(response)
  return response
}

/** The hits of a search, with their states. @throws like {@link searchRaw} */
export async function searchHits(
  target: IndexTarget,
  body: object,
  preference?: string,
): Promise<FoundHit[]> {
  const withState = { seq_no_primary_term: true, ...body }
  return foundHits(target, await searchRaw(target, withState, preference))
}

/** The hits of a response, with their states. @throws Unavailable */
export function foundHits(target: IndexTarget, response: DocumentSearchResponse): FoundHit[] {
  return completeRawHits(response).map((hit) => toFoundHit(target, hit))
}

function toFoundHit({ index }: IndexTarget, hit: unknown): FoundHit {
  const { _id: id, _source: source, sort } = Object(hit)
  const state = documentState(Object(hit))
  if (typeof id === 'string' && state !== null) return { id, source, state, sort }
  throw new Unavailable(`the search response of OpenSearch for ${index} has invalid hits`)
}

export interface PagedSearch {
  query: object
  /** Sort keys that every hit has; `_seq_no` is added, so that no two hits are equal. */
  sort: readonly object[]
  pageSize: number
  /** Which copy of the shard is searched; the primary when absent. */
  preference?: string
}

/** Pages of hits as of the last refresh, with their sources. */
export async function* searchPages(
  target: IndexTarget,
  search: PagedSearch,
): AsyncGenerator<FoundDocument[]> {
  for await (const page of pagesOf(target, search, true)) {
    yield page.map(({ id, source, state }) => ({ id, source, state }))
  }
}

export interface CurrentDocument extends FoundDocument {
  /** Whether the document changed since the refresh that the search saw. */
  isChanged: boolean
}

/**
 * Pages of hits as they are now. A search sees an index as of its last refresh, so a hit may no
 * longer match: the caller must compare again. Documents that were removed since are left out.
 */
export async function* searchCurrent(
  target: IndexTarget,
  search: PagedSearch,
): AsyncGenerator<CurrentDocument[]> {
  const { client, index, deadlineMs } = target
  for await (const page of pagesOf(target, search, false)) {
    const docs = page.map(({ id }) => ({ _id: id }))
    const current = await readDocuments(client, deadlineMs, { index, docs })
    yield current.flatMap((document, at) => {
      const state = documentState(document)
      if (!document.found || state === null) return []
      const isChanged = state.if_seq_no !== page[at]?.state.if_seq_no
      return [{ id: document._id, source: document._source, state, isChanged }]
    })
  }
}

function pagesOf(
  target: IndexTarget,
  { query, sort, pageSize, preference }: PagedSearch,
  hasSource: boolean,
): AsyncGenerator<FoundHit[]> {
  const body = { size: pageSize, query, sort: [...sort, { _seq_no: 'asc' }], _source: hasSource }
  return searchAfter(pageSize, (next) => searchHits(target, { ...body, ...next }, preference))
}

/** Makes all earlier writes visible to searches. @throws Unavailable when a shard copy failed */
export async function refreshIndex({ client, index, deadlineMs }: IndexTarget): Promise<void> {
  await refreshIndices(client, deadlineMs, [index])
}
