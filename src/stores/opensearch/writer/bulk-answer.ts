import { DocumentRefused } from '../../../indexing/writing/order-index.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import type { DocumentState } from '../documents.ts'

/** What a bulk request is told of one of its items. */
export type BulkItemAnswer = Partial<Record<'index' | 'create' | 'delete', ItemAnswer>>
interface ItemAnswer {
  _id?: string
  status: number
  _seq_no?: number
  _primary_term?: number
  error?: { type: string; reason: string }
}

const NO_ROOM = 429
const BAD_DOCUMENT = 400
const CLOSED = 'index_closed_exception'
const NO_FIELD = 'strict_dynamic_mapping_exception'

/**
 * The state that an item left its document in; `null` when it was turned away and has to be sent again.
 * @throws Unavailable when it has to be looked at again; DocumentRefused
 */
export function writtenState(orderId: string, answer: BulkItemAnswer = {}): DocumentState | null {
  const { _id, status, error, ...state } = answer.index ??
    answer.create ??
    answer.delete ?? { status: 0 }
  const { _seq_no: if_seq_no, _primary_term: if_primary_term } = state
  if (error === undefined && if_seq_no !== undefined && if_primary_term !== undefined) {
    return { if_seq_no, if_primary_term }
  }
  if (status === NO_ROOM) return null
  const { type, reason } = error ?? { type: 'no answer', reason: '' }
  if (type === NO_FIELD) {
    throw new Error(`the index lacks a field that documents have: ${reason}; "index init" adds it`)
  }
  if (status === BAD_DOCUMENT && type !== CLOSED) {
    throw new DocumentRefused(orderId, `OpenSearch refused the document ${_id}: ${type}: ${reason}`)
  }
  // No fault of the document: a full disk, an index that is gone or closed to writes, or another state of it
  // than was seen, so that it has to be looked at again.
  throw new Unavailable(`OpenSearch did not write ${_id}: ${type}: ${reason}`)
}
