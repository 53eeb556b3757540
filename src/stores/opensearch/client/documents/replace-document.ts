import { Unavailable } from '../../../../lib/errors/unavailable.ts'
import { type OpenSearch, write } from '../client.ts'
import { CONFLICT, isRejectedWith } from '../errors.ts'
import { type DocumentState, documentState } from './document-state.ts'
import type { DocumentAddress } from './read-documents.ts'

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

/** The state in the response to a write. @throws Unavailable when it is missing */
export function stateOf({ index }: DocumentAddress, response: object): DocumentState {
  const state = documentState(response)
  if (state !== null) return state
  throw new Unavailable(
    `the response of OpenSearch to a write lacks the state of a document of ${index}`,
  )
}
