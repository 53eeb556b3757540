import { Unavailable } from '../../../../lib/errors/unavailable.ts'
import {
  assertPermitted,
  BAD_REQUEST,
  CONFLICT,
  INDEX_BLOCKED,
  INDEX_CLOSED,
  TOO_MANY_REQUESTS,
} from '../errors.ts'

/** The result of one item of a bulk. */
export interface BulkItemResult {
  status: number
  error?: { type: string; reason: string }
  /** Of the document that an accepted item left, like its primary term. */
  _seq_no?: number
  _primary_term?: number
}

/** The fields of a bulk response that this module reads. The response to a success stays small. */
export const BULK_FILTER_PATH = ['status', 'error', '_seq_no', '_primary_term'].map(
  (field) => `items.*.${field}`,
)

/**
 * The results of a bulk, in the order of its items.
 * @throws Unavailable when one is missing; RequestRejectedError when the user lacks a permission
 */
export function parseBulkResponse(response: object, count: number): BulkItemResult[] {
  const { items } = response as { items?: Record<string, BulkItemResult>[] }
  const results = items?.flatMap((item) => Object.values(item)) ?? []
  for (const { error } of results) assertPermitted(error)
  if (results.length === count) return results
  throw new Unavailable(
    `the bulk response of OpenSearch has ${results.length} of ${count} items: what was written is unknown`,
  )
}

/**
 * - `overloaded`: the write queue of a node was full; the item can be sent again.
 * - `unmapped`: the mapping lacks a field of the document.
 * - `invalid`: OpenSearch never accepts this document.
 * - `unavailable`: the cause is the index and not the document, such as a full disk or a closed
 *   index.
 */
export type BulkItemOutcome =
  | 'accepted'
  | 'conflict'
  | 'overloaded'
  | 'unmapped'
  | 'invalid'
  | 'unavailable'

const UNMAPPED_FIELD = 'strict_dynamic_mapping_exception'

/**
 * Classifies the result of an item by its status and error type. An unknown failure is
 * `unavailable`, since the document may be valid.
 */
export function outcomeOf({ status, error }: BulkItemResult): BulkItemOutcome {
  if (error === undefined && status >= 200 && status < 300) return 'accepted'
  if (status === TOO_MANY_REQUESTS && error?.type !== INDEX_BLOCKED) return 'overloaded'
  if (status === CONFLICT) return 'conflict'
  if (error?.type === UNMAPPED_FIELD) return 'unmapped'
  if (status === BAD_REQUEST && error?.type !== INDEX_CLOSED) return 'invalid'
  return 'unavailable'
}

/** Describes a failed item: its status, the type of its error and the reason. */
export function describeResult({ status, error }: BulkItemResult): string {
  return `${status} ${error?.type ?? 'no type'}: ${error?.reason ?? 'no reason'}`
}
