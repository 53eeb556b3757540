/** The state of a document, as the condition of a write that replaces it. */
export interface DocumentState {
  if_seq_no: number
  if_primary_term: number
}

/** The part of a response from which the state of a document is read. */
export interface StateFields {
  _seq_no?: unknown
  _primary_term?: unknown
}

/**
 * The state of a document in a response; `null` when a part of it is missing. A write on the
 * condition of an undefined state would have no condition.
 */
export function documentState({ _seq_no, _primary_term }: StateFields): DocumentState | null {
  if (typeof _seq_no !== 'number' || typeof _primary_term !== 'number') return null
  return { if_seq_no: _seq_no, if_primary_term: _primary_term }
}

/** A promotion of a replica increases the primary term, and may reuse sequence numbers. */
export function isOlderState(one: DocumentState, other: DocumentState): boolean {
  if (one.if_primary_term !== other.if_primary_term)
    return one.if_primary_term < other.if_primary_term
  return one.if_seq_no < other.if_seq_no
}
