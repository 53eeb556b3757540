import type { Order } from '../../orders/order.ts'
import type { ViewKey } from '../../orders/order-store.ts'
import type { EventRecord } from '../../webhooks/events/event-record.ts'
import type { OrderVersionRecord } from './version-record.ts'

/**
 * `history` keeps the `changed_at` of an order's first version, for an index that no client reads
 * yet. `live` dates it with the write timestamp, like every other change.
 */
export type WriteMode = 'history' | 'live'

/** A stored document. */
export interface StoredView extends ViewKey {
  updatedKey: number
  /** The write timestamp of its bulk. */
  writtenKey?: number
  /** The schema version of `json`. */
  schemaVersion: number
  json: Uint8Array
  /**
   * Whether the document matches its checksum, if it has one, and has the search keys of this view.
   * Costs another pass over the document, so only a repair calls it.
   */
  isIntact(view: Pick<ViewWrite, 'order' | 'createdKey'>): boolean
}

/**
 * A document that cannot be parsed as an order. It can be replaced or removed, but not compared.
 */
export interface UnreadableView extends ViewKey {
  isUnreadable: true
}

/** A document that a tombstone replaced. */
export interface RemovedView extends ViewKey {
  /** The write timestamp of the tombstone. */
  removedKey: number
}

/** What a store has for a possible document of an order. */
export type FoundView = StoredView | UnreadableView | RemovedView

/**
 * A document to write. `updatedAt`: epoch milliseconds, `null`, or the write timestamp of its bulk.
 */
export interface ViewWrite extends ViewKey {
  order: Order
  createdKey: number
  updatedAt: number | null | 'write-timestamp'
  /**
   * The earlier write timestamp of a document with unchanged content; that of the bulk when absent.
   * A new one would make a client that pages undated orders receive it again.
   */
  writtenKey?: number
}

export interface BulkWrites {
  /** In the sequence to apply: an account's documents by order id. */
  views: readonly ViewWrite[]
  removals: readonly ViewKey[]
  /** Written once the documents are confirmed, and before the version records. */
  eventRecords: readonly EventRecord[]
  versionRecords: readonly OrderVersionRecord[]
}

/** The event record of an order that begins with this sequence. */
export interface EventRecordKey {
  orderId: string
  sequence: number
}

/** Reads the current state of the index, searchable yet or not. */
export interface IndexReader {
  /** @throws DocumentRejectedError for a damaged one */
  versionRecords(orderIds: readonly string[]): Promise<Map<string, OrderVersionRecord>>
  /**
   * Documents of these orders, including those that a crash left without a version record. Always
   * empty for a store that writes both atomically.
   */
  orphans(orderIds: readonly string[]): Promise<ViewKey[]>
  /** Every document of these orders, of any account; may scan the whole index. */
  scan(orderIds: readonly string[]): Promise<ViewKey[]>
  /** The documents that exist among `keys`, and the tombstones of a store that has some. */
  views(keys: readonly ViewKey[]): Promise<FoundView[]>
  /**
   * The event records that exist among `keys`. Always empty for a store that writes them atomically
   * with the version records.
   */
  eventRecords(keys: readonly EventRecordKey[]): Promise<EventRecord[]>
  /** The accounts that have a webhook endpoint, as of at most five seconds ago. */
  subscribers(): Promise<Subscribers>
}

/** Accounts that have a webhook endpoint. */
export type Subscribers = Pick<ReadonlySet<string>, 'has' | 'size'>
export type FindSubscribers = IndexReader['subscribers']

/** The command that writes. A load does not start while a watch runs. */
export type WriterPurpose = 'load' | 'watch' | 'reindex'

/** The most recent document: once it is visible, so is every earlier write. */
export interface LastWrite {
  accountId: string
  /** The write timestamp of its bulk, epoch milliseconds. */
  writeTimestamp: number
}

/** One attempt to change the locked orders: read them, then commit. */
export interface Transaction extends IndexReader {
  /**
   * Writes the documents, then the event records, then the version records, each after the ones
   * before are confirmed. Every document carries the write timestamp of the bulk, greater than that
   * of every earlier bulk. A `live` commit is recorded for {@link OrderIndex.hasLiveWrites} before
   * it is sent.
   *
   * Returns `false` when part of the bulk may be written, or the orders may have changed since the
   * reads. The caller then begins another transaction and decides on its reads.
   * @throws DocumentRejectedError, LeaseLostError, ClockSkewError; Unavailable after the retries;
   * Error, which is never retried, when the store rejects a request, when its index lacks a field
   * of a document, or when an abort interrupts a pause
   */
  commit(writes: BulkWrites, mode: WriteMode): Promise<boolean>
}

/** Exclusive write access to some orders, across the transactions of all their changes. */
export interface OrderLock {
  /**
   * Starts an attempt on the current state of the index; an uncommitted one before it is discarded.
   */
  begin(): Promise<Transaction>
  /** Discards what is not committed and admits the next lock. Call it exactly once. */
  release(): void
}

/**
 * The write side of the orders. One writer is active at a time, and sends one bulk at a time. So
 * changes become visible in the order of their write timestamps: see `src/orders/paging.md`.
 */
export interface OrderIndex {
  /**
   * Waits until every earlier lock of these orders is released, even if its commit failed. Locks of
   * other orders may overlap: their transactions read and decide while an earlier one commits.
   */
  lock(orderIds: readonly string[]): Promise<OrderLock>
  /**
   * Whether any writer ever sent a `live` bulk: clients may have paged past the dates of history.
   */
  hasLiveWrites(): boolean
  /** The most recently written document; `null` before the first. */
  lastWrite(): LastWrite | null
  /** Makes every committed write visible to readers. @throws Unavailable */
  refresh(): Promise<void>
  /**
   * The writer's clock, whole epoch milliseconds, capped at the allowed lead over the store's
   * clock.
   */
  now(): number
  /** Admits another writer. */
  close(): Promise<void>
}

/** The same index, but `map` replaces each transaction that begins. */
export function mapTransactions<Index extends Pick<OrderIndex, 'lock'>>(
  index: Index,
  map: (transaction: Transaction) => Transaction,
): Index {
  return {
    ...index,
    async lock(orderIds) {
      const lock = await index.lock(orderIds)
      return { ...lock, begin: async () => map(await lock.begin()) }
    },
  }
}
