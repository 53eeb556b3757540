import type { Change, ValidationError } from '../projection/change.ts'
import {
  compareDocuments,
  documentsOfChange,
  type VersionStatus,
  versionStatus,
} from './compare-documents.ts'
import type { Inconsistency } from './inconsistency.ts'
import type { IndexInspection } from './index-inspection.ts'

/** The state of a change in the index, as far as it can be determined. */
export type ComparedChange = { change: Change } & (
  | { status: 'current' | 'behind'; inconsistencies: readonly Inconsistency[] }
  | { status: 'superseded' }
  | { status: 'rejected'; error: ValidationError }
)

/** Compares changes with their current version records and documents. */
export async function compareChanges(
  inspection: Pick<IndexInspection, 'versionRecords' | 'documents'>,
  changes: readonly Change[],
): Promise<ComparedChange[]> {
  const records = await inspection.versionRecords([
    ...new Set(changes.map(({ orderId }) => orderId)),
  ])
  const statuses = new Map(
    changes.map((change) => [change, versionStatus(change, records.get(change.orderId))]),
  )
  const comparable = changes.filter((change) => isComparable(statuses.get(change)))
  const documents = await inspection.documents(comparable.flatMap(documentsOfChange))
  const documentsOf = Map.groupBy(documents, ({ address }) => address.orderId)

  return [...statuses].map(([change, status]) => {
    if (typeof status === 'object') return { change, status: 'rejected', error: status }
    if (!isComparable(status)) return { change, status: status }
    const { orderId } = change
    const inconsistencies = compareDocuments(
      change,
      records.get(orderId),
      documentsOf.get(orderId) ?? [],
    )
    return { change, status: status, inconsistencies }
  })
}

function isComparable(status: VersionStatus | undefined): status is 'current' | 'behind' {
  return status === 'current' || status === 'behind'
}
