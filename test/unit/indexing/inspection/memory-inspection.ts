import type {
  FoundDocument,
  IndexInspection,
} from '../../../../src/indexing/inspection/index-inspection.ts'
import type { Head, ViewKey } from '../../../../src/indexing/writing/order-index.ts'
import { changeOf } from '../../../support/changes.ts'
import { documentsOf } from './found-document.ts'

const keyOf = ({ accountId, orderId }: ViewKey) => `${accountId}:${orderId}`

/** An index in two maps, with what was asked of it. */
export function createMemoryInspection() {
  const heads = new Map<string, Head>()
  const documents = new Map<string, FoundDocument>()
  const asked = { heads: 0, documents: 0 }

  const inspection: Omit<IndexInspection, 'overview'> = {
    async heads(orderIds) {
      asked.heads += orderIds.length
      return new Map([...heads].filter(([orderId]) => orderIds.includes(orderId)))
    },
    async documents(keys) {
      asked.documents += keys.length
      return keys.flatMap((key) => documents.get(keyOf(key)) ?? [])
    },
    async existing(keys) {
      return keys.filter((key) => documents.has(keyOf(key)))
    },
    async *walk() {
      for (const document of [...documents.values()]) yield [document]
    },
    async *walkHeads() {
      for (const head of [...heads.values()]) yield [head]
    },
    stamps: async () => ({ lastStamp: null, clockMs: 0 }),
  }
  return {
    ...inspection,
    asked,
    /** Writes a version of an order whole, as a writer does. */
    write(source: object) {
      const change = changeOf(source)
      const { orderId, version, ownerAccountId, createdKey, deleted } = change
      const accountIds = change.views.map(({ accountId }) => accountId)
      const head = { orderId, version, ownerAccountId, accountIds, createdKey, deleted }
      heads.set(orderId, { ...head, filled: change.changedAt !== null })
      for (const [key, { address }] of documents)
        if (address.orderId === orderId) documents.delete(key)
      for (const document of documentsOf(change)) documents.set(keyOf(document.address), document)
    },
    forgetHead: (orderId: string) => heads.delete(orderId),
    drop: (accountId: string, orderId: string) => documents.delete(keyOf({ accountId, orderId })),
  }
}
