import { Unavailable } from '../../../../lib/errors/unavailable.ts'
import { read } from '../client.ts'
import { type DocumentState, documentState, isOlderState } from '../documents/document-state.ts'
import { stateOf } from '../documents/replace-document.ts'
import {
  type DocumentSearchResponse,
  type FoundDocument,
  foundHits,
  type IndexTarget,
  searchRaw,
} from './document-search.ts'
import { searchAfter } from './search-after.ts'

/** The id of a document without fields, which no query of a caller may match. */
export const MARKER_ID = 'search-marker'
const IS_MARKER = { ids: { values: [MARKER_ID] } }
const MARKER_STATE = { top_hits: { size: 1, _source: false, seq_no_primary_term: true } }

export interface LinearizableSearch {
  /** Matches no document without fields. */
  query: object
  /** Keys that every hit has, and that never change. Equal hits are sorted by their last writes. */
  sort?: readonly object[]
  pageSize: number
}

/**
 * Pages of the documents that match during the whole call, whatever else of them changes; one that
 * changes may be in two pages. A node that left the cluster still responds as the primary that it
 * was. So a marker is written first, and each search must find it. A later marker proves the same:
 * only a copy with all earlier writes accepts one.
 * @throws Unavailable also when an outdated copy responded
 */
export async function* searchLinearizable(
  target: IndexTarget,
  { query, sort = [], pageSize }: LinearizableSearch,
): AsyncGenerator<FoundDocument[]> {
  const marker = await writeMarker(target)
  const body = {
    size: pageSize,
    seq_no_primary_term: true,
    // An aggregation includes the marker in every page, whatever the sort.
    query: { bool: { should: [query, IS_MARKER] } },
    post_filter: { bool: { must_not: [IS_MARKER] } },
    aggs: { marker: { filter: IS_MARKER, aggs: { state: MARKER_STATE } } },
    // Otherwise OpenSearch skips segments of earlier pages, and with one of them the marker.
    track_total_hits: true,
    // A document that changes keeps its position, or moves to a later one.
    sort: [...sort, { _seq_no: 'asc' }],
  }
  yield* searchAfter(pageSize, async (next) => {
    const response = await searchRaw(target, { ...body, ...next })
    const found = markerState(response)
    if (found === null || isOlderState(found, marker))
      throw new Unavailable(`an outdated copy of ${target.index} responded to a search: try again`)
    return foundHits(target, response)
  })
}

/** The state of the marker that a search found. */
function markerState({ aggregations }: DocumentSearchResponse): DocumentState | null {
  const { hits } = Object(Object(aggregations?.['marker']).state)
  const [found]: unknown[] = Array.isArray(hits?.hits) ? hits.hits : []
  return documentState(Object(found))
}

/**
 * Writes the marker, and makes it and all earlier writes searchable. While a replica does not
 * respond, it fails like the writes before it.
 * @throws Unavailable
 */
export async function writeMarker({
  client,
  index,
  deadlineMs,
}: IndexTarget): Promise<DocumentState> {
  const address = { index, id: MARKER_ID }
  const request = { ...address, body: {}, refresh: true, require_alias: true }
  // Retried like a read, since a second marker does no harm.
  return stateOf(address, await read(deadlineMs, (options) => client.index(request, options)))
}
