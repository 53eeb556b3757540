import type { InspectedDocument } from '../../../../src/indexing/consistency-check/index-inspection.ts'
import type { Change } from '../../../../src/indexing/projection/change.ts'
import { renderDocument } from '../../../../src/indexing/writer/order-document.ts'

/** The write timestamp of the bulk. */
export const WRITE_TIMESTAMP = Date.parse('2026-05-01T00:00:00Z')

/** The documents of a change as a check finds them, dated unless `updatedAt` is null. */
export function documentsOf(
  { orderId, views }: Change,
  updatedAt: number | null = WRITE_TIMESTAMP,
): InspectedDocument[] {
  return views.map((view) => {
    const document = renderDocument({ ...view, orderId, updatedAt }, WRITE_TIMESTAMP)
    return {
      address: { accountId: document.accountId, orderId },
      keys: {
        account_id: document.accountId,
        id: document.id,
        shape: document.schemaVersion,
        status: document.status,
        payment_method: document.paymentMethod,
        created_key: document.createdKey,
        updated_key: document.updatedKey,
        written_key: document.writtenKey,
        ...document.filterKeys,
      },
      order: JSON.parse(document.json.toString()),
    }
  })
}
