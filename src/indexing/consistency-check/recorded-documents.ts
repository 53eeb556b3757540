import type { ViewKey } from '../../orders/order-store.ts'
import type { OrderVersionRecord } from '../writer/version-record.ts'
import type { IndexInspection } from './index-inspection.ts'

/** A document that the version record of its order requires. */
export interface RecordedDocument extends ViewKey {
  version: number
}

/** The documents that a version record requires. */
export function documentsOfRecord({
  orderId,
  version,
  accountIds,
  deleted,
}: OrderVersionRecord): RecordedDocument[] {
  if (deleted) return []
  return accountIds.map((accountId) => ({ accountId, orderId, version }))
}

/** The documents that do not exist, among expected ones. */
export async function absentDocuments(
  { existingKeys }: Pick<IndexInspection, 'existingKeys'>,
  expected: readonly RecordedDocument[],
): Promise<RecordedDocument[]> {
  const existing = new Set((await existingKeys(expected)).map(documentId))
  return expected.filter((document) => !existing.has(documentId(document)))
}

/** Neither id holds a colon. */
export function documentId({ accountId, orderId }: ViewKey): string {
  return `${accountId}:${orderId}`
}
