import type { ViewKey } from '../../orders/order-store.ts'
import { damagedRecord, type Inconsistency } from './inconsistency.ts'
import { type IndexInspection, isIntactRecord } from './index-inspection.ts'
import type { Recheck } from './recheck.ts'
import {
  absentDocuments,
  documentId,
  documentsOfRecord,
  type RecordedDocument,
} from './recorded-documents.ts'

export interface MissingDocumentsOptions {
  inspection: Pick<IndexInspection, 'versionRecords' | 'existingKeys' | 'scanVersionRecords'>
  recheck: Recheck
  /** Whether this was already reported. */
  isReported(inconsistency: Pick<Inconsistency, 'kind' | keyof ViewKey>): boolean
  onInconsistency(inconsistency: Inconsistency): void
  /** Called after each page. */
  onProgress(orders: number): void
}

const MAX_CANDIDATES = 2_000

/**
 * Scans all version records. Reports the missing documents that they name, and damaged records.
 * Returns the number of version records.
 */
export async function findMissingDocuments(options: MissingDocumentsOptions): Promise<number> {
  const { inspection, recheck, isReported, onInconsistency, onProgress } = options
  let orders = 0
  let candidates: RecordedDocument[] = []

  async function recheckCandidates() {
    const absent = await recheck(candidates, async (left) => {
      const records = await inspection.versionRecords([
        ...new Set(left.map(({ orderId }) => orderId)),
      ])
      const candidateIds = new Set(left.map(documentId))
      const expected = [...records.values()].filter(isIntactRecord).flatMap(documentsOfRecord)
      return absentDocuments(
        inspection,
        expected.filter((document) => candidateIds.has(documentId(document))),
      )
    })
    for (const document of absent) onInconsistency(missing(document))
    candidates = []
  }

  for await (const page of inspection.scanVersionRecords()) {
    orders += page.length
    const damaged = page.flatMap((record) => (isIntactRecord(record) ? [] : damagedRecord(record)))
    for (const fault of damaged) if (!isReported(fault)) onInconsistency(fault)
    const expected = page
      .filter(isIntactRecord)
      .flatMap(documentsOfRecord)
      .filter((document) => !isReported({ kind: 'missing', ...document }))
    candidates = [...candidates, ...(await absentDocuments(inspection, expected))]
    if (candidates.length >= MAX_CANDIDATES) await recheckCandidates()
    onProgress(orders)
  }
  await recheckCandidates()
  return orders
}

function missing({ accountId, orderId, version }: RecordedDocument): Inconsistency {
  const what = `version ${version} has no document; the index itself names the account`
  return { kind: 'missing', accountId, orderId, what, fields: [] }
}
