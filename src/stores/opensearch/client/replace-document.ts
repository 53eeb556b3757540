import { Unavailable } from '../../../lib/unavailable.ts'
import { type OpenSearch, write } from './client.ts'
import type { DocumentAddress, DocumentState } from './documents.ts'
import { CONFLICT, isRejectedWith } from './errors.ts'

export interface ReplaceOptions {
  /** Includes the wait for a refresh. */
  deadlineMs: number
  /** Returns once searches find the document. */
  refresh?: 'wait_for'
}

/**
 * Replaces the document in this state, or creates it for `null`, by compare-and-set. Returns the
 * new state; `null` on a conflict.
 * @throws Unavailable when the outcome is unknown, or RequestRejectedError
 */
export async function replaceDocument(
  client: OpenSearch,
  { deadlineMs, ...more }: ReplaceOptions,
  address: DocumentAddress,
  expected: DocumentState | null,
  body: object,
): Promise<DocumentState | null> {
  const condition = expected ?? { op_type: 'create' as const }
  const request = { ...address, ...condition, ...more, require_alias: true, body }
  try {
    return stateOf(address, await write(deadlineMs, (options) => client.index(request, options)))
  } catch (error) {
    if (isRejectedWith(error, CONFLICT)) return null
    throw error
  }
}

/** The client omits an undefined condition, so that the next write would replace any state. */
function stateOf({ index }: DocumentAddress, response: object): DocumentState {
  const { _seq_no, _primary_term } = response as { _seq_no?: unknown; _primary_term?: unknown }
  if (typeof _seq_no !== 'number' || typeof _primary_term !== 'number') {
    throw new Unavailable(
      `the response of OpenSearch to a write lacks the state of a document of ${index}`,
    )
  }
  return { if_seq_no: _seq_no, if_primary_term: _primary_term }
}
