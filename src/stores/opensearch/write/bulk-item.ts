import { DocumentRejectedError } from '../../../indexing/writer/writer-errors.ts'
import { Unavailable } from '../../../lib/errors/unavailable.ts'
import { type BulkItemResult, describeResult, outcomeOf } from '../client/bulk/bulk-response.ts'
import type { BulkAddress, BulkTarget, OptimisticConcurrency } from './optimistic-concurrency.ts'

/** A document to write, or a tombstone. */
export interface BulkItem {
  orderId: string
  address: BulkAddress
  /** Renders the document at the write timestamp of its bulk; absent to write a tombstone. */
  source?: (writeTimestamp: number) => string
}

/**
 * Whether OpenSearch accepted an item. A rejected one met a full queue and can be sent again.
 * @throws Unavailable when the document must be read again before a retry; DocumentRejectedError;
 * Error, which is never retried, when the mapping of the index lacks a field of the document
 */
export function checkAccepted(
  { orderId, address: { _id } }: BulkItem,
  result?: BulkItemResult,
): boolean {
  if (result === undefined) throw new Unavailable(`no result for ${_id}`)
  const outcome = outcomeOf(result)
  if (outcome === 'accepted') return true
  if (outcome === 'overloaded') return false
  const description = describeResult(result)
  if (outcome === 'unmapped') {
    throw new Error(
      `the mapping of the index lacks a field of ${_id}: run "index init", which adds it: ${description}`,
    )
  }
  if (outcome === 'invalid') {
    throw new DocumentRejectedError(orderId, `OpenSearch rejected ${_id}: ${description}`)
  }
  throw new Unavailable(`OpenSearch did not write ${_id}: ${description}`)
}

/** The action of an item and its document, for a bulk request. */
export function actionLines(
  states: OptimisticConcurrency,
  target: BulkTarget,
  item: BulkItem,
  writeTimestamp: number,
): string {
  const { address, source } = item
  if (source === undefined) return states.tombstoneAction(address, writeTimestamp)
  return `${states.indexAction(target, address, writeTimestamp)}${source(writeTimestamp)}\n`
}
