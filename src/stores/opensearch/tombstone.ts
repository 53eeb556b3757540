/**
 * A removed document leaves a tombstone in its place. The engine remembers the version of a deleted
 * document for a limited time only, and not over a restart or a move of the shard: after that, a write
 * that a frozen node kept back would make the document again. A tombstone is a document, so such a write
 * conflicts with it for as long as the index exists. It has no field of the order but its id, and no field
 * `account_id`, so no search of an account finds it. `index reindex` leaves tombstones behind with the old
 * index, to which every write that can still be late was addressed.
 */

/** The stamp of the removal, epoch milliseconds; only a tombstone has it. */
export const REMOVED_FIELD = 'removed_key'

/** The query that finds tombstones. */
export const TOMBSTONES = { exists: { field: REMOVED_FIELD } }

/** The query that finds all other documents. */
export const NO_TOMBSTONES = { bool: { must_not: [TOMBSTONES] } }

/** The source of a tombstone, for a removal at this stamp. */
export function renderTombstone(stamp: number): string {
  return JSON.stringify({ [REMOVED_FIELD]: stamp })
}

/** Whether a stored source, or a part of one with its `removed_key`, is a tombstone. */
export function isTombstone(source: unknown): boolean {
  return Object(source)[REMOVED_FIELD] !== undefined
}

const PREFIX = Buffer.from(`{"${REMOVED_FIELD}":`)

/** The same of the bytes of a source: a tombstone is stored as it was rendered. */
export function isTombstoneBytes(source: Uint8Array): boolean {
  return PREFIX.equals(source.subarray(0, PREFIX.length))
}
