import { ORDER_SCHEMA_VERSION } from '../../orders/order.ts'
import { NULL_INSTANT_KEY } from '../../orders/order-store.ts'
import type { View } from '../projection/order-views.ts'
import { hasSameContent } from './order-document.ts'
import type { FoundView, StoredView, ViewWrite } from './order-index.ts'
import type { OrderVersionRecord } from './version-record.ts'

/** Whether the document can be parsed as an order. */
export function isReadable(view: FoundView): view is StoredView {
  return 'json' in view
}

/** Whether an earlier release projected the document. */
export const hasOlderSchema = ({ schemaVersion }: StoredView) =>
  schemaVersion < ORDER_SCHEMA_VERSION

/** The dates of a document whose public content is unchanged. */
export function keptDates({
  updatedKey,
  writtenKey,
}: StoredView): Pick<ViewWrite, 'updatedAt' | 'writtenKey'> {
  const updatedAt = updatedKey === NULL_INSTANT_KEY ? null : updatedKey
  return { updatedAt, ...(writtenKey !== undefined && { writtenKey }) }
}

/**
 * Whether no commit confirmed the document. Clients may have received later write timestamps before
 * it became visible, so it needs a new one: see `lease/fence.md`.
 */
export function isUnconfirmed(
  { writtenKey = 0 }: StoredView,
  record: OrderVersionRecord | undefined,
): boolean {
  return record === undefined || writtenKey > (record.writtenKey ?? Infinity)
}

/** An unconfirmed tombstone may disappear with its node before a replica has it. */
export function isConfirmedRemoval(
  view: FoundView,
  record: OrderVersionRecord | undefined,
): boolean {
  return 'removedKey' in view && view.removedKey <= (record?.writtenKey ?? Infinity)
}

/** The first date of an order counts as a change. */
export function hasNewContent({ order }: View, stored: StoredView, hasUpdatedAt: boolean): boolean {
  if (hasUpdatedAt && stored.updatedKey === NULL_INSTANT_KEY) return true
  return !hasSameContent(stored, order)
}
