import type {
  IndexInspection,
  InspectedDocument,
  InspectedRecord,
} from '../../../../src/indexing/consistency-check/index-inspection.ts'
import type { ViewKey } from '../../../../src/orders/order-store.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { documentsOf } from './inspected-document.ts'

const keyOf = ({ accountId, orderId }: ViewKey) => `${accountId}:${orderId}`

/** An index in two maps that records the lookups. */
export function createMemoryInspection() {
  const records = new Map<string, InspectedRecord>()
  const documents = new Map<string, InspectedDocument>()
  const lookups = { versionRecords: 0, documents: 0 }

  const inspection: Omit<IndexInspection, 'overview'> = {
    async versionRecords(orderIds) {
      lookups.versionRecords += orderIds.length
      return new Map([...records].filter(([orderId]) => orderIds.includes(orderId)))
    },
    async documents(keys) {
      lookups.documents += keys.length
      return keys.flatMap((key) => documents.get(keyOf(key)) ?? [])
    },
    async existingKeys(keys) {
      return keys.filter((key) => documents.has(keyOf(key)))
    },
    async *scanDocuments() {
      for (const document of [...documents.values()]) yield [document]
    },
    async *scanVersionRecords() {
      for (const record of [...records.values()]) yield [record]
    },
    writeTimestamps: async () => ({ lastWriteTimestamp: null, clockMs: 0 }),
    readAliasFault: async () => null,
  }
  return {
    ...inspection,
    lookups,
    /** Writes a version of an order completely, as a writer does. */
    write(source: object) {
      const change = changeOf(source)
      const { orderId, version, ownerAccountId, createdKey, deleted } = change
      const accountIds = change.views.map(({ accountId }) => accountId)
      const record = { orderId, version, ownerAccountId, accountIds, createdKey, deleted }
      records.set(orderId, { ...record, hasUpdatedAt: change.changedAt !== null })
      for (const [key, { address }] of documents)
        if (address.orderId === orderId) documents.delete(key)
      for (const document of documentsOf(change)) documents.set(keyOf(document.address), document)
    },
    damageRecord: (orderId: string) => records.set(orderId, { orderId, damage: 'it is damaged' }),
    forgetHead: (orderId: string) => records.delete(orderId),
    drop: (accountId: string, orderId: string) => documents.delete(keyOf({ accountId, orderId })),
  }
}
