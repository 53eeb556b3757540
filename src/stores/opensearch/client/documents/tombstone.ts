/**
 * A removal replaces the document with a tombstone, so that a late write of it conflicts: see
 * `write/lease/fence.md`. This field is the write timestamp of the removal, epoch milliseconds;
 * only a tombstone has it.
 */
export const REMOVED_FIELD = 'removed_key'

export const TOMBSTONES = { exists: { field: REMOVED_FIELD } }

export const NO_TOMBSTONES = { bool: { must_not: [TOMBSTONES] } }

/** The source of a tombstone for a removal at this write timestamp. */
export function renderTombstone(writeTimestamp: number): string {
  return JSON.stringify({ [REMOVED_FIELD]: writeTimestamp })
}

/** Whether a stored source is a tombstone. A partial source must include `removed_key`. */
export function isTombstone(source: unknown): boolean {
  return Object(source)[REMOVED_FIELD] !== undefined
}

const PREFIX = Buffer.from(`{"${REMOVED_FIELD}":`)

/** The same for the bytes of a source, which OpenSearch stores as rendered. */
export function isTombstoneBytes(source: Uint8Array): boolean {
  return PREFIX.equals(source.subarray(0, PREFIX.length))
}
