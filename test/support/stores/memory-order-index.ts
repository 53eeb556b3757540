import {
  hasKeysOf,
  type OrderDocument,
  renderDocument,
} from '../../../src/indexing/writer/order-document.ts'
import type {
  BulkWrites,
  FoundView,
  IndexReader,
  OrderIndex,
  StoredView,
  WriteMode,
} from '../../../src/indexing/writer/order-index.ts'
import type { OrderVersionRecord } from '../../../src/indexing/writer/version-record.ts'
import type { Order } from '../../../src/orders/order.ts'
import { type EventRecord, firstSequence } from '../../../src/webhooks/events/event-record.ts'

export interface MemoryOrderIndex extends OrderIndex {
  /** The order as the account sees it; `undefined` when it sees none. */
  order(accountId: string, orderId: string): Order | undefined
  document(accountId: string, orderId: string): OrderDocument | undefined
  record(orderId: string): OrderVersionRecord | undefined
  /** All event records, in the sequence of their writes. */
  events: readonly EventRecord[]
  /** The accounts with a webhook endpoint. */
  subscribed: Set<string>
  /** Stores a document as an older schema version without this field would. */
  downgradeSchema(accountId: string, orderId: string, field: keyof Order): void
  /** Sets or removes a document directly; `unreadable`: it cannot be parsed as an order. */
  put(accountId: string, orderId: string, document: OrderDocument | 'unreadable' | undefined): void
  /** `account:order` of every document. */
  keys(): string[]
  /** The write timestamp of the last bulk. */
  lastWriteTimestamp: number
  /** The number of items of the next bulks that are written before one fails; by default all. */
  failsAfter: number
}

/** The first bulk is stamped 2026-05-01, the next ones a second apart. */
export const FIRST_WRITE_TIMESTAMP = Date.parse('2026-05-01T00:00:00Z')

/** An index in two maps, which writes the items of a bulk one after the other. */
export function createMemoryOrderIndex(): MemoryOrderIndex {
  const documents = new Map<string, OrderDocument>()
  const unreadable = new Set<string>()
  const records = new Map<string, OrderVersionRecord>()
  const events: EventRecord[] = []
  const subscribed = new Set<string>()
  let hasLiveWrites = false
  const keyOf = (accountId: string, orderId: string) => `${accountId}:${orderId}`

  const scan: IndexReader['scan'] = async (orderIds) => {
    const all = [...documents.values()].map(({ accountId, id }) => ({ accountId, orderId: id }))
    return all.filter(({ orderId }) => orderIds.includes(orderId))
  }
  const reader: IndexReader = {
    async versionRecords(orderIds) {
      return new Map(
        orderIds.flatMap((id) => {
          const record = records.get(id)
          return record ? [[id, record] as const] : []
        }),
      )
    },
    orphans: scan,
    scan,
    async views(keys) {
      return keys.flatMap(({ accountId, orderId }): FoundView[] => {
        const document = documents.get(keyOf(accountId, orderId))
        if (document === undefined) return []
        if (unreadable.has(keyOf(accountId, orderId))) {
          return [{ accountId, orderId, isUnreadable: true }]
        }
        const isIntact: StoredView['isIntact'] = (view) => hasKeysOf(view, document)
        return [{ ...document, orderId, json: Buffer.from(document.json), isIntact }]
      })
    },
    async eventRecords(keys) {
      return events.filter((record) =>
        keys.some(
          ({ orderId, sequence }) =>
            record.orderId === orderId && firstSequence(record) === sequence,
        ),
      )
    },
    subscribers: async () => subscribed,
  }

  async function commit(
    { views, removals, eventRecords, versionRecords }: BulkWrites,
    mode: WriteMode,
  ) {
    index.lastWriteTimestamp += 1000
    hasLiveWrites ||= mode === 'live'
    const items = [
      ...views.map((view) => () => {
        unreadable.delete(keyOf(view.accountId, view.orderId))
        documents.set(
          keyOf(view.accountId, view.orderId),
          renderDocument(view, index.lastWriteTimestamp),
        )
      }),
      ...removals.map((key) => () => documents.delete(keyOf(key.accountId, key.orderId))),
      ...eventRecords.map((record) => () => events.push(record)),
      ...versionRecords.map((record) => () => {
        records.set(record.orderId, { writtenKey: index.lastWriteTimestamp, ...record })
      }),
    ]
    const { failsAfter } = index
    for (const write of items.slice(0, failsAfter)) write()
    const isFailing = failsAfter < items.length
    index.failsAfter = isFailing ? Infinity : failsAfter - items.length
    if (isFailing) throw new Error('it all ended')
    return true
  }

  const index: MemoryOrderIndex = {
    lastWriteTimestamp: FIRST_WRITE_TIMESTAMP - 1000,
    failsAfter: Infinity,
    lock: async () => ({ begin: async () => ({ ...reader, commit }), release() {} }),
    hasLiveWrites: () => hasLiveWrites,
    lastWrite: () => null,
    async refresh() {},
    now: () => index.lastWriteTimestamp,
    async close() {},
    order(accountId, orderId) {
      const document = documents.get(keyOf(accountId, orderId))
      return document && JSON.parse(document.json)
    },
    document: (accountId, orderId) => documents.get(keyOf(accountId, orderId)),
    record: (orderId) => records.get(orderId),
    events,
    subscribed,
    downgradeSchema(accountId, orderId, field) {
      const key = keyOf(accountId, orderId)
      const document = documents.get(key)
      if (document === undefined) throw new Error(`there is no document ${key}`)
      const { [field]: _, ...order } = JSON.parse(document.json)
      const downgraded = { schemaVersion: document.schemaVersion - 1, json: JSON.stringify(order) }
      documents.set(key, { ...document, ...downgraded })
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
