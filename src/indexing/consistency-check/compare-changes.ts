import type { Change, ValidationError } from '../projection/change.ts'
import {
  compareDocuments,
  documentsOfChange,
  type VersionStatus,
  versionStatus,
} from './compare-documents.ts'
import type { Inconsistency } from './inconsistency.ts'
import type { IndexInspection } from './index-inspection.ts'
import { absentDocuments, documentsOfRecord, type RecordedDocument } from './recorded-documents.ts'

/** The state of a change in the index, as far as it can be determined. */
export type ComparedChange = { change: Change } & (
  | {
      status: 'current' | 'behind' | 'superseded'
      inconsistencies: readonly Inconsistency[]
    }
  | { status: 'rejected'; error: ValidationError }
)

type ComparedIndex = Pick<IndexInspection, 'versionRecords' | 'documents' | 'existingKeys'>

/**
 * Compares changes with their current version records and documents. The content of a newer version
 * is unknown, so its documents only have to exist.
 */
export async function compareChanges(
  inspection: ComparedIndex,
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
  const superseded = changes.filter((change) => statuses.get(change) === 'superseded')
  const newer = superseded.flatMap(({ orderId }) => records.get(orderId) ?? [])
  const absent = await absentDocuments(inspection, [...new Set(newer)].flatMap(documentsOfRecord))
  const absentOf = Map.groupBy(absent, ({ orderId }) => orderId)

  return [...statuses].map(([change, status]) => {
    if (typeof status === 'object') return { change, status: 'rejected', error: status }
    const { orderId, version } = change
    if (status === 'superseded') {
      const missing = (absentOf.get(orderId) ?? []).map((document) =>
        missingNewer(document, version),
      )
      return { change, status, inconsistencies: missing }
    }
    const inconsistencies = compareDocuments(
      change,
      records.get(orderId),
      documentsOf.get(orderId) ?? [],
    )
    return { change, status: status, inconsistencies }
  })
}

function missingNewer(
  { accountId, orderId, version }: RecordedDocument,
  sourceVersion: number,
): Inconsistency {
  const what = `version ${version} has no document, and the source has version ${sourceVersion}: a repair needs the newest version`
  return { kind: 'missing', accountId, orderId, what, fields: [] }
}

function isComparable(status: VersionStatus | undefined): status is 'current' | 'behind' {
  return status === 'current' || status === 'behind'
}
