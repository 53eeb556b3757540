import { type OrderDocument, renderDocument } from '../../../src/indexing/document.ts'
import type { Head, OrderIndex, Stored } from '../../../src/indexing/order-index.ts'
import type { Order } from '../../../src/orders/order.ts'

export interface MemoryOrderIndex extends OrderIndex {
  /** What the account sees of the order; `undefined` when it sees none. */
  order(accountId: string, orderId: string): Order | undefined
  document(accountId: string, orderId: string): OrderDocument | undefined
  head(orderId: string): Head | undefined
  /** `account:order` of every document. */
  keys(): string[]
  /** The stamp of the last bulk. */
  stamp: number
}

/** The first bulk is stamped 2026-05-01, the next ones a second apart. */
export const FIRST_STAMP = Date.parse('2026-05-01T00:00:00Z')

/** An index in two maps. */
export function createMemoryOrderIndex(): MemoryOrderIndex {
  const documents = new Map<string, OrderDocument>()
  const heads = new Map<string, Head>()
  const keyOf = (accountId: string, orderId: string) => `${accountId}:${orderId}`

  const stored: Stored = {
    async heads(orderIds) {
      return new Map(
        orderIds.flatMap((id) => {
          const head = heads.get(id)
          return head ? [[id, head] as const] : []
        }),
      )
    },
    async views(keys) {
      return keys.flatMap(({ accountId, orderId }) => {
        const document = documents.get(keyOf(accountId, orderId))
        return document ? [{ ...document, orderId }] : []
      })
    },
  }

  const index: MemoryOrderIndex = {
    stamp: FIRST_STAMP - 1000,
    async bulk(decide) {
      const { views, removals, heads: newHeads } = await decide(stored)
      index.stamp += 1000
      for (const view of views) {
        documents.set(keyOf(view.accountId, view.orderId), renderDocument(view, index.stamp))
      }
      for (const { accountId, orderId } of removals) documents.delete(keyOf(accountId, orderId))
      for (const head of newHeads) heads.set(head.orderId, head)
    },
    async close() {},
    order(accountId, orderId) {
      const document = documents.get(keyOf(accountId, orderId))
      return document && JSON.parse(document.json.toString())
    },
    document: (accountId, orderId) => documents.get(keyOf(accountId, orderId)),
    head: (orderId) => heads.get(orderId),
    keys: () => [...documents.keys()].sort((one, other) => (one < other ? -1 : 1)),
  }
  return index
}
