import { DocumentRejectedError } from '../../../indexing/writer/order-index.ts'
import { Unavailable } from '../../../lib/unavailable.ts'

/** What a bulk request is told of one of its items. */
export type BulkItemResponse = Partial<Record<'index' | 'create', ItemResult>>
interface ItemResult {
  status: number
  error?: { type: string; reason: string }
}

/** All of an answer that is relied on: hardly anything where all is well. */
export const BULK_FILTER_PATH = ['items.*.status', 'items.*.error']

const TOO_MANY_REQUESTS = 429
const BAD_DOCUMENT = 400
/** By a full disk, or an operator. */
const INDEX_BLOCKED = 'cluster_block_exception'
const INDEX_CLOSED = 'index_closed_exception'
const UNKNOWN_FIELD = 'strict_dynamic_mapping_exception'

/**
 * Whether an item was taken; else it was turned away and has to be sent again.
 * @throws Unavailable when its document has to be looked at again; DocumentRefused
 */
export function isAccepted(
  { orderId, address: { _id } }: { orderId: string; address: { _id: string } },
  response: BulkItemResponse = {},
): boolean {
  const { status, error } = response.index ?? response.create ?? { status: 0 }
  if (error === undefined && isSuccess(status)) return true
  if (status === TOO_MANY_REQUESTS && error?.type !== INDEX_BLOCKED) return false
  const { type, reason } = error ?? { type: 'no answer', reason: '' }
  if (type === UNKNOWN_FIELD) {
    throw new Error(`the index lacks a field that documents have: ${reason}; "index init" adds it`)
  }
  if (status === BAD_DOCUMENT && type !== INDEX_CLOSED) {
    throw new DocumentRejectedError(
      orderId,
      `OpenSearch refused the document ${_id}: ${type}: ${reason}`,
    )
  }
  // No fault of the document: a full disk, an index that is gone or closed to writes, or another state of it
  // than was seen, so that it has to be looked at again.
  throw new Unavailable(`OpenSearch did not write ${_id}: ${type}: ${reason}`)
}

const isSuccess = (status: number) => status >= 200 && status < 300
