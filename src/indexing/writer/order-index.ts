import type { Order } from '../../orders/order.ts'
import type { WriteMode } from './decide.ts'

/**
 * What is known of an order whatever its documents are: one small record, kept for ever. It alone decides
 * whether a version is older, whether the owner or the creation changed and which accounts lose the order.
 */
export interface OrderVersionRecord {
  orderId: string
  version: number
  ownerAccountId: string
  /** The accounts that have a document. */
  accountIds: readonly string[]
  /** Epoch milliseconds; `null` while only its deletion is known. */
  createdKey: number | null
  /** Whether a version came with a `changed_at`: from then on `updated_at` is never null. */
  hasUpdatedAt: boolean
  deleted: boolean
}

export interface ViewKey {
  accountId: string
  orderId: string
}

/** A document as it stands in the index. */
export interface StoredView extends ViewKey {
  updatedKey: number
  /** The stamp of the bulk that it came with. */
  writtenKey?: number
  /** The shape that `json` was written in. */
  schemaVersion: number
  json: Uint8Array
  /**
   * Whether the document fits its checksum, where it has one, and is searched by what this view has. Only a
   * repair calls it, because it reads the whole document once more.
   */
  isIntact(view: Pick<ViewWrite, 'order' | 'createdKey'>): boolean
}

/** A document that is no order any more, as after a change by hand. It can be replaced or removed, not compared. */
export interface UnreadableView extends ViewKey {
  isUnreadable: true
}

/** A document to write. `updatedAt`: epoch milliseconds, `null`, or the stamp of its bulk. */
export interface ViewWrite extends ViewKey {
  order: Order
  createdKey: number
  updatedAt: number | null | 'stamp'
  /**
   * The stamp that the document keeps, where it shows what it showed before: with a new one, a reader of
   * the undated orders would be given it again (`paging`). The stamp of its bulk where this is absent.
   */
  writtenKey?: number
}

export interface BulkWrites {
  /** In the order in which they are to be applied: an account's documents by their id. */
  views: readonly ViewWrite[]
  removals: readonly ViewKey[]
  versionRecords: readonly OrderVersionRecord[]
}

/** What is in the index when a bulk is decided. */
export interface IndexReader {
  versionRecords(orderIds: readonly string[]): Promise<Map<string, OrderVersionRecord>>
  /**
   * Documents of these orders that no head may tell of, because all ended between documents and heads: those
   * that can be found, whether a head tells of them or not. There are none where all is written at once.
   */
  orphans(orderIds: readonly string[]): Promise<ViewKey[]>
  /** Every document of these orders that can be found, of whatever account; it may take a scan of the index. */
  scan(orderIds: readonly string[]): Promise<ViewKey[]>
  /** The documents that exist among `keys`. */
  views(keys: readonly ViewKey[]): Promise<(StoredView | UnreadableView)[]>
}

/** What a writer is there for; one that loads leaves the place to one that watches. */
export type WriterPurpose = 'load' | 'watch' | 'reindex'

/** A document that was written: whoever is shown it is shown all that was written before it. */
export interface LastWrite {
  accountId: string
  /** The stamp of its bulk, epoch milliseconds. */
  writeTimestamp: number
}

/** The store takes a document of this order in no case: the others can be written without it. */
export class DocumentRejectedError extends Error {
  readonly orderId: string

  constructor(orderId: string, reason: string) {
    super(reason)
    this.name = 'DocumentRefused'
    this.orderId = orderId
  }
}

/** A load found an `index watch` at work, which does not end by itself. */
export class WatchRunningError extends Error {
  constructor(holder = 'another process') {
    super(
      `"index watch" is at work (${holder}) and writes the order of its stream alone: hand the lines to it with "index load --stream", or stop it first`,
    )
    this.name = 'WatchAtWork'
  }
}

/** Somebody else is the writer now; this one writes nothing any more. */
export class LeaseLostError extends Error {
  constructor() {
    super('another writer took over: this one did not renew its lease in time')
    this.name = 'LeaseLost'
  }
}

/** One attempt to change the locked orders: read them, then commit. */
export interface Transaction extends IndexReader {
  /**
   * Writes the documents and, once these are confirmed, the version records. Every document carries the
   * write timestamp of the bulk, greater than that of every earlier bulk. A `live` commit is recorded for
   * {@link OrderIndex.hasLiveWrites} before it is sent.
   *
   * Returns `false` when part of the bulk may be written, or the orders may have changed since they were
   * read: begin another transaction and decide on its reads.
   * @throws DocumentRejectedError, LeaseLostError, ClockSkewError; Unavailable after the retry deadline
   */
  commit(writes: BulkWrites, mode: WriteMode): Promise<boolean>
}

/** Exclusive write access to some orders, across the transactions of one change. */
export interface OrderLock {
  /** Starts an attempt on the current state of the index; an uncommitted one before it is discarded. */
  begin(): Promise<Transaction>
  /** Discards what is not committed and admits the next lock. Call it exactly once. */
  release(): void
}

/**
 * The write side of the orders. One writer is active at a time and sends one bulk at a time, so write
 * timestamps increase in the order in which changes become visible: see `src/orders/paging.md`.
 */
export interface OrderIndex {
  /**
   * Waits until every earlier lock of these orders is released, whether its commit succeeded or not.
   * Locks of other orders may overlap: their transactions read and decide while an earlier one commits.
   */
  lock(orderIds: readonly string[]): Promise<OrderLock>
  /** Whether any writer ever sent a `live` bulk: clients may have paged past the date of a backfill. */
  hasLiveWrites(): boolean
  /** The most recently written document; `null` before the first. */
  lastWrite(): LastWrite | null
  /** The writer's clock, epoch milliseconds, capped at the allowed lead over the store's clock. */
  now(): number
  /** Admits another writer. */
  close(): Promise<void>
}
