import { Unavailable } from '../../../lib/unavailable.ts'
import { read } from './client.ts'
import { type FoundDocument, type IndexTarget, searchHits } from './document-search.ts'
import { type DocumentState, isOlderState } from './documents.ts'
import { stateOf } from './replace-document.ts'

/** The id of a document without fields, which no query of a caller may match. */
export const MARKER_ID = 'search-marker'
const IS_MARKER = { ids: { values: [MARKER_ID] } }

export interface LinearizableSearch {
  /** Matches no document without fields. */
  query: object
  pageSize: number
}

/**
 * Pages of the documents that matched when the call began, latest write first. None is missing but
 * those that change during the call. A node that left the cluster still answers as the primary that
 * it was, so each page must contain a marker that is written first. A later marker proves the same:
 * only a copy with all earlier writes accepts one.
 * @throws Unavailable also when an outdated copy answered
 */
export async function* searchLinearizable(
  target: IndexTarget,
  { query, pageSize }: LinearizableSearch,
): AsyncGenerator<FoundDocument[]> {
  const marker = await writeMarker(target)
  for (let bound: object = { lte: marker.if_seq_no }; ; ) {
    const bounded = { bool: { filter: [query, { range: { _seq_no: bound } }] } }
    const [first, ...page] = await searchHits(target, {
      size: pageSize + 1,
      query: { bool: { should: [bounded, IS_MARKER] } },
      sort: [{ _seq_no: 'desc' }], // The marker is first in every page.
    })
    if (first?.id !== MARKER_ID || isOlderState(first.state, marker))
      throw new Unavailable(`an outdated copy of ${target.index} answered a search: try again`)
    if (page.length > 0) yield page
    const last = page[pageSize - 1]
    if (last === undefined) return
    bound = { lt: last.state.if_seq_no }
  }
}

/** Writes the marker, and makes it and all earlier writes searchable. */
async function writeMarker({ client, index, deadlineMs }: IndexTarget): Promise<DocumentState> {
  const address = { index, id: MARKER_ID }
  const request = { ...address, body: {}, refresh: true, require_alias: true }
  // Retried like a read, since a second marker does no harm.
  return stateOf(address, await read(deadlineMs, (options) => client.index(request, options)))
}
