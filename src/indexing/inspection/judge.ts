import { parseJson } from '../../lib/json.ts'
import { completeOrder } from '../../orders/complete.ts'
import { NULL_UPDATED_KEY } from '../../orders/order-store.ts'
import type { Change, Refusal } from '../projection/change.ts'
import type { View } from '../projection/project.ts'
import { verdictByHead } from '../writing/decide.ts'
import { showsSame } from '../writing/document.ts'
import type { Head, ViewKey } from '../writing/order-index.ts'
import { differingPaths } from './differing-paths.ts'
import type { Fault } from './fault.ts'
import type { FoundDocument } from './index-inspection.ts'
import { keyFaults } from './key-faults.ts'

/** How a version stands to the one that the index has: `behind` is the index. */
export type Standing = 'current' | 'behind' | 'superseded' | Refusal

/** Whether a version can be compared with the documents of its order, or why not. Pure. */
export function standing(change: Change, head: Head | undefined): Standing {
  // Live: what a back-fill refuses besides, a date in the future, is no matter of the index.
  const verdict = verdictByHead(change, head, 'live', 0)
  if (typeof verdict === 'object') return verdict
  if (verdict === undefined) return 'behind'
  return change.version === head?.version ? 'current' : 'superseded'
}

/** The documents that there have to be of a version. */
export function expectedDocuments({ orderId, views }: Change): ViewKey[] {
  return views.map(({ accountId }) => ({ accountId, orderId }))
}

/**
 * What is missing of the documents of a version that is current or that the index is behind, and which of
 * them show something else. `documents`: those that exist among the expected ones. Pure.
 */
export function judge(
  change: Change,
  head: Head | undefined,
  documents: readonly FoundDocument[],
): Fault[] {
  const found = new Map(documents.map((document) => [document.address.accountId, document]))
  const isBehind = head === undefined || head.version < change.version
  const filled = change.changedAt !== null || (head?.filled ?? false)
  const faults = change.views.flatMap((view): Fault[] => {
    const key = { accountId: view.accountId, orderId: change.orderId }
    const reached = isBehind ? reachedBy(head) : ''
    const document = found.get(view.accountId)
    if (document === undefined) {
      const what = `version ${change.version} has no document${reached}`
      return [{ ...key, kind: 'missing', what, fields: [] }]
    }
    const fields = differences(view, document, filled)
    const what = `the document does not show version ${change.version}${reached}`
    return fields.length === 0 ? [] : [{ ...key, kind: 'different', what, fields }]
  })
  return isBehind && faults.length === 0 ? [unknownVersion(change, head)] : faults
}

/** No document tells of the version, but one that came later could be taken for newer than it is. */
function unknownVersion(change: Change, head: Head | undefined): Fault {
  return {
    kind: 'missing',
    accountId: change.ownerAccountId,
    orderId: change.orderId,
    what: `version ${change.version} is not recorded${reachedBy(head)}`,
    fields: [],
  }
}

function reachedBy(head: Head | undefined): string {
  const reached = head !== undefined && head.version > 0
  return reached ? `; the index has version ${head.version}` : '; the index does not know the order'
}

function differences({ order }: View, document: FoundDocument, filled: boolean): string[] {
  // What contradicts itself is found, and told, by walking over all documents.
  if (document.damaged || keyFaults(document).length > 0) return []
  const { shape, updated_key } = document.keys as { shape: number; updated_key: number }
  const isDated = updated_key !== NULL_UPDATED_KEY
  const date = filled === isDated ? [] : ['/updated_at']
  const json = Buffer.from(JSON.stringify(document.order))
  if (showsSame({ ...document.address, updatedKey: updated_key, shape, json }, order)) return date
  const shown = undated(Buffer.from(completeOrder(json, shape)).toString())
  return [...differingPaths(shown, undated(JSON.stringify(order))), ...date]
}

function undated(json: string): object {
  const { updated_at: _, ...order } = parseJson(json) as Record<string, unknown>
  return order
}
