import { DocumentRefused } from '../../../indexing/writing/order-index.ts'
import { Unavailable } from '../../../lib/unavailable.ts'

/** What a bulk request is told of one of its items. */
export type BulkItemAnswer = Partial<Record<'index' | 'create', ItemAnswer>>
interface ItemAnswer {
  status: number
  error?: { type: string; reason: string }
}

/** All of an answer that is relied on: hardly anything where all is well. */
export const BULK_ANSWER = ['items.*.status', 'items.*.error']

const NO_ROOM = 429
const BAD_DOCUMENT = 400
/** By a full disk, or an operator. */
const BLOCKED = 'cluster_block_exception'
const CLOSED = 'index_closed_exception'
const NO_FIELD = 'strict_dynamic_mapping_exception'

/**
 * Whether an item was taken; else it was turned away and has to be sent again.
 * @throws Unavailable when its document has to be looked at again; DocumentRefused
 */
export function isTaken(
  { orderId, address: { _id } }: { orderId: string; address: { _id: string } },
  answer: BulkItemAnswer = {},
): boolean {
  const { status, error } = answer.index ?? answer.create ?? { status: 0 }
  if (error === undefined && isSuccess(status)) return true
  if (status === NO_ROOM && error?.type !== BLOCKED) return false
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

const isSuccess = (status: number) => status >= 200 && status < 300
