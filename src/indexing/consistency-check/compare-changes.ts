import type { Change, ValidationError } from '../projection/change.ts'
import {
  compareDocuments,
  documentsOfChange,
  type VersionStatus,
  versionStatus,
} from './compare-documents.ts'
import { damagedRecord, type Inconsistency } from './inconsistency.ts'
import {
  type DamagedRecord,
  type IndexInspection,
  type InspectedRecord,
  isIntactRecord,
} from './index-inspection.ts'
import { absentDocuments, documentsOfRecord, type RecordedDocument } from './recorded-documents.ts'

/** The state of a change in the index, as far as it can be determined. */
export type ComparedChange = { change: Change } & (
  | {
      status: 'current' | 'behind' | 'superseded' | 'damaged'
      inconsistencies: readonly Inconsistency[]
    }
  | { status: 'rejected'; error: ValidationError }
)

type ComparedIndex = Pick<IndexInspection, 'versionRecords' | 'documents' | 'existingKeys'>

/**
 * Compares changes with their current version records and documents. The content of a newer version
 * is unknown, so its documents only have to exist. Where the record is damaged, the version of the
 * index is unknown, and nothing is compared.
 */
export async function compareChanges(
  inspection: ComparedIndex,
  changes: readonly Change[],
): Promise<ComparedChange[]> {
  const records = await inspection.versionRecords([
    ...new Set(changes.map(({ orderId }) => orderId)),
  ])
  const statuses = new Map(
    changes.map((change) => [change, statusOf(change, records.get(change.orderId))]),
  )
  const comparable = changes.filter((change) => isComparable(statuses.get(change)))
  const documents = await inspection.documents(comparable.flatMap(documentsOfChange))
  const documentsOf = Map.groupBy(documents, ({ address }) => address.orderId)
  const superseded = changes.filter((change) => statuses.get(change) === 'superseded')
  const intact = new Map(
    [...records.values()].filter(isIntactRecord).map((record) => [record.orderId, record]),
  )
  const newer = superseded.flatMap(({ orderId }) => intact.get(orderId) ?? [])
  const absent = await absentDocuments(inspection, [...new Set(newer)].flatMap(documentsOfRecord))
  const absentOf = Map.groupBy(absent, ({ orderId }) => orderId)

  return [...statuses].map(([change, status]) => {
    if (typeof status === 'object') {
      return 'damage' in status
        ? { change, status: 'damaged', inconsistencies: [damagedRecord(status)] }
        : { change, status: 'rejected', error: status }
    }
    const { orderId, version } = change
    if (status === 'superseded') {
      const missing = (absentOf.get(orderId) ?? []).map((document) =>
        missingNewer(document, version),
      )
      return { change, status, inconsistencies: missing }
    }
    const inconsistencies = compareDocuments(
      change,
      intact.get(orderId),
      documentsOf.get(orderId) ?? [],
    )
    return { change, status: status, inconsistencies }
  })
}

function statusOf(
  change: Change,
  record: InspectedRecord | undefined,
): VersionStatus | DamagedRecord {
  if (record === undefined || isIntactRecord(record)) return versionStatus(change, record)
  return record
}

function missingNewer(
  { accountId, orderId, version }: RecordedDocument,
  sourceVersion: number,
): Inconsistency {
  const what = `version ${version} has no document, and the source has version ${sourceVersion}: a repair needs the newest version`
  return { kind: 'missing', accountId, orderId, what, fields: [] }
}

function isComparable(
  status: VersionStatus | DamagedRecord | undefined,
): status is 'current' | 'behind' {
  return status === 'current' || status === 'behind'
}
