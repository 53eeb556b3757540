import { parseJson } from '../../lib/text/json.ts'
import { ORDER_SCHEMA_VERSION } from '../../orders/order.ts'
import { NULL_INSTANT_KEY, type ViewKey } from '../../orders/order-store.ts'
import { upgradeOrder } from '../../orders/upgrade-order.ts'
import type { Change, ValidationError } from '../projection/change.ts'
import type { View } from '../projection/order-views.ts'
import { checkVersion, isRejected } from '../writer/decide.ts'
import { hasSameContent } from '../writer/order-document.ts'
import type { OrderVersionRecord } from '../writer/version-record.ts'
import { differingPaths } from './differing-paths.ts'
import type { Inconsistency } from './inconsistency.ts'
import type { InspectedDocument } from './index-inspection.ts'
import { invalidKeyFields } from './invalid-key-fields.ts'

/** A version compared with that of the index; `behind` means that the index is older. */
export type VersionStatus = 'current' | 'behind' | 'superseded' | ValidationError

/** Whether a version can be compared with the documents of its order, or why not. Pure. */
export function versionStatus(
  change: Change,
  record: OrderVersionRecord | undefined,
): VersionStatus {
  // Live: a load of history also rejects future dates, which is no inconsistency of the index.
  const result = checkVersion(change, record, { mode: 'live', policy: 'drop' }, 0)
  if (isRejected(result)) return result
  if (result === undefined) return 'behind'
  return change.version === record?.version ? 'current' : 'superseded'
}

/** The documents that a version requires. */
export function documentsOfChange({ orderId, views }: Change): ViewKey[] {
  return views.map(({ accountId }) => ({ accountId, orderId }))
}

/**
 * The missing and differing documents of a version that is current or newer than the index.
 * `documents`: those that exist among the expected ones. Pure.
 */
export function compareDocuments(
  change: Change,
  record: OrderVersionRecord | undefined,
  documents: readonly InspectedDocument[],
): Inconsistency[] {
  const found = new Map(documents.map((document) => [document.address.accountId, document]))
  const isBehind = record === undefined || record.version < change.version
  const hasUpdatedAt = change.changedAt !== null || (record?.hasUpdatedAt ?? false)
  const inconsistencies = change.views.flatMap((view): Inconsistency[] => {
    const key = { accountId: view.accountId, orderId: change.orderId }
    const indexedVersion = isBehind ? indexedVersionText(record) : ''
    const document = found.get(view.accountId)
    if (document === undefined) {
      const what = `version ${change.version} has no document${indexedVersion}`
      return [{ ...key, kind: 'missing', what, fields: [] }]
    }
    const fields = differingFields(view, document, hasUpdatedAt)
    const isOlder = Number(document.keys.shape) < ORDER_SCHEMA_VERSION
    const subject = isOlder ? 'the document of an older schema version' : 'the document'
    const what = `${subject} does not show version ${change.version}${indexedVersion}`
    return fields.length === 0 ? [] : [{ ...key, kind: 'different', what, fields }]
  })
  return isBehind && inconsistencies.length === 0
    ? [unrecordedVersion(change, record)]
    : inconsistencies
}

/** No document differs, but a later change with an older version could be accepted as newer. */
function unrecordedVersion(change: Change, record: OrderVersionRecord | undefined): Inconsistency {
  return {
    kind: 'missing',
    accountId: change.ownerAccountId,
    orderId: change.orderId,
    what: `version ${change.version} is not recorded${indexedVersionText(record)}`,
    fields: [],
  }
}

function indexedVersionText(record: OrderVersionRecord | undefined): string {
  const isRecorded = record !== undefined && record.version > 0
  return isRecorded
    ? `; the index has version ${record.version}`
    : '; the index has no record of the order'
}

function differingFields(
  { order }: View,
  document: InspectedDocument,
  hasUpdatedAt: boolean,
): string[] {
  // The scan of all documents reports inconsistent key fields.
  if (document.damaged || invalidKeyFields(document).length > 0) return []
  const { shape, updated_key } = document.keys as { shape: number; updated_key: number }
  const hasDate = updated_key !== NULL_INSTANT_KEY
  const date = hasUpdatedAt === hasDate ? [] : ['/updated_at']
  const json = Buffer.from(JSON.stringify(document.order))
  if (
    hasSameContent(
      { ...document.address, updatedKey: updated_key, schemaVersion: shape, json },
      order,
    )
  )
    return date
  const current = withoutUpdatedAt(Buffer.from(upgradeOrder(json, shape)).toString())
  return [...differingPaths(current, withoutUpdatedAt(JSON.stringify(order))), ...date]
}

function withoutUpdatedAt(json: string): object {
  const { updated_at: _, ...order } = parseJson(json) as Record<string, unknown>
  return order
}
