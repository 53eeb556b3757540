import { Unavailable } from '../../lib/unavailable.ts'
import { ask, type OpenSearch } from './client.ts'

export interface DocumentAddress {
  index: string
  id: string
  routing?: string
}

export interface StoredDocument {
  source: unknown
  state: DocumentState
}

/** What a write must name to replace just this state of a document. */
export interface DocumentState {
  if_seq_no: number
  if_primary_term: number
}

interface GetAnswer {
  found?: unknown
  _source?: unknown
  _seq_no?: unknown
  _primary_term?: unknown
  error?: { type?: unknown; reason?: unknown }
}

/**
 * A document as it is now, searchable yet or not; `null` when there is none.
 * @throws Unavailable also when there is no such index: nobody knows then what would be in it
 */
export async function readDocument(
  client: OpenSearch,
  deadlineMs: number,
  address: DocumentAddress,
): Promise<StoredDocument | null> {
  const { found, _source, _seq_no, _primary_term, error }: GetAnswer = await ask(
    deadlineMs,
    (options) => client.get(address, { ...options, ignore: [404] }),
  )
  if (found === false) return null
  if (found !== true || typeof _seq_no !== 'number' || typeof _primary_term !== 'number') {
    throw new Unavailable(
      `OpenSearch did not tell whether ${address.index} has a document: ${error?.reason ?? 'no reason'}`,
    )
  }
  return { source: _source, state: { if_seq_no: _seq_no, if_primary_term: _primary_term } }
}
