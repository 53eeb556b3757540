import {
  hasKeysOf,
  type OrderDocument,
  renderDocument,
} from '../../../../src/indexing/writing/document.ts'
import type {
  Head,
  OrderIndex,
  Stored,
  StoredView,
  UnreadableView,
} from '../../../../src/indexing/writing/order-index.ts'
import type { Order } from '../../../../src/orders/order.ts'

export interface MemoryOrderIndex extends OrderIndex {
  /** What the account sees of the order; `undefined` when it sees none. */
  order(accountId: string, orderId: string): Order | undefined
  document(accountId: string, orderId: string): OrderDocument | undefined
  head(orderId: string): Head | undefined
  /** Leaves a document as a shape without this field would have written it. */
  age(accountId: string, orderId: string, field: keyof Order): void
  /** Puts a document there by hand, or takes it away; `unreadable`: what is there is no order any more. */
  put(accountId: string, orderId: string, document: OrderDocument | 'unreadable' | undefined): void
  /** `account:order` of every document. */
  keys(): string[]
  /** The stamp of the last bulk. */
  stamp: number
  /** How many items of the next bulk are written before everything ends; it does not, by itself. */
  endsAfter: number
}

/** The first bulk is stamped 2026-05-01, the next ones a second apart. */
export const FIRST_STAMP = Date.parse('2026-05-01T00:00:00Z')

/** An index in two maps, which writes one item of a bulk after the other. */
export function createMemoryOrderIndex(): MemoryOrderIndex {
  const documents = new Map<string, OrderDocument>()
  const unreadable = new Set<string>()
  const heads = new Map<string, Head>()
  let wasStampedLive = false
  const keyOf = (accountId: string, orderId: string) => `${accountId}:${orderId}`

  const scan: Stored['scan'] = async (orderIds) => {
    const all = [...documents.values()].map(({ accountId, id }) => ({ accountId, orderId: id }))
    return all.filter(({ orderId }) => orderIds.includes(orderId))
  }
  const stored: Stored = {
    async heads(orderIds) {
      return new Map(
        orderIds.flatMap((id) => {
          const head = heads.get(id)
          return head ? [[id, head] as const] : []
        }),
      )
    },
    strays: scan,
    scan,
    async views(keys) {
      return keys.flatMap(({ accountId, orderId }): (StoredView | UnreadableView)[] => {
        const document = documents.get(keyOf(accountId, orderId))
        if (document === undefined) return []
        if (unreadable.has(keyOf(accountId, orderId))) {
          return [{ accountId, orderId, isUnreadable: true }]
        }
        const isIntact: StoredView['isIntact'] = (view) => hasKeysOf(view, document)
        return [{ ...document, orderId, json: Buffer.from(document.json), isIntact }]
      })
    },
  }

  const index: MemoryOrderIndex = {
    stamp: FIRST_STAMP - 1000,
    endsAfter: Infinity,
    async bulk(decide, mode) {
      const { views, removals, heads: newHeads } = await decide(stored)
      index.stamp += 1000
      wasStampedLive ||= mode === 'live'
      const putHead = (head: Head) => () => heads.set(head.orderId, head)
      const items = [
        ...views.map((view) => () => {
          unreadable.delete(keyOf(view.accountId, view.orderId))
          documents.set(keyOf(view.accountId, view.orderId), renderDocument(view, index.stamp))
        }),
        ...removals.map((key) => () => documents.delete(keyOf(key.accountId, key.orderId))),
        ...newHeads.map(putHead),
      ]
      const { endsAfter } = index
      index.endsAfter = Infinity
      for (const write of items.slice(0, endsAfter)) write()
      if (endsAfter < items.length) throw new Error('it all ended')
    },
    wasStampedLive: () => wasStampedLive,
    lastWrite: () => null,
    now: () => index.stamp,
    async close() {},
    order(accountId, orderId) {
      const document = documents.get(keyOf(accountId, orderId))
      return document && JSON.parse(document.json)
    },
    document: (accountId, orderId) => documents.get(keyOf(accountId, orderId)),
    head: (orderId) => heads.get(orderId),
    age(accountId, orderId, field) {
      const key = keyOf(accountId, orderId)
      const document = documents.get(key)
      if (document === undefined) throw new Error(`there is no document ${key}`)
      const { [field]: _, ...order } = JSON.parse(document.json)
      const aged = { shape: document.shape - 1, json: JSON.stringify(order) }
      documents.set(key, { ...document, ...aged })
    },
    put(accountId, orderId, document) {
      const key = keyOf(accountId, orderId)
      if (document === 'unreadable') unreadable.add(key)
      else if (document === undefined) documents.delete(key)
      else documents.set(key, document)
    },
    keys: () => [...documents.keys()].sort((one, other) => (one < other ? -1 : 1)),
  }
  return index
}
