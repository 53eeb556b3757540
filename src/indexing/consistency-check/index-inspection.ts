import { filterColumns } from '../../orders/filters/filter-generations.ts'
import type { ViewKey } from '../../orders/order-store.ts'
import type { WriterPurpose } from '../writer/order-index.ts'
import type { OrderVersionRecord } from '../writer/version-record.ts'

/** The search and sort keys of a document. */
export const keyFields = [
  'account_id',
  'id',
  'shape',
  'status',
  'payment_method',
  'created_key',
  'updated_key',
  'written_key',
  ...filterColumns,
] as const
export type KeyField = (typeof keyFields)[number]

/** A stored document, unvalidated. */
export interface InspectedDocument {
  /** Its address in the store. */
  address: ViewKey
  /** Any key may be missing or of a wrong type. */
  keys: Readonly<Partial<Record<KeyField, unknown>>>
  /** The order inside; a scan returns at least the fields behind its keys. */
  order: unknown
  /** The document does not match its checksum. Only a store with checksums detects this. */
  damaged?: true
}

/** A stored version record that is no valid one, so it says nothing about its order. */
export interface DamagedRecord {
  orderId: string
  /** What is damaged and how to correct it, in words for an operator. */
  damage: string
}

export type InspectedRecord = OrderVersionRecord | DamagedRecord

export function isIntactRecord(record: InspectedRecord): record is OrderVersionRecord {
  return !('damage' in record)
}

/** The writer, as far as other processes can observe it. */
export interface WriterOverview {
  holder: string
  purpose: WriterPurpose
  /** Whether it released its lease. */
  released: boolean
  /** `true`: a renewal of its lease was observed; `null`: the observation was too short. */
  alive: boolean | null
  /** How long its lease lasts without a renewal. */
  leaseMs: number
}

export interface IndexPart {
  name: string
  /** Whether orders are read from it. */
  read: boolean
  /** Whether writes go into it. */
  fed: boolean
  documents: number
  /** The sum over all replicas; `null` when the store does not report it. */
  bytes: number | null
  /** Empty for a store without shards. */
  shards: readonly ShardPart[]
}

/** A primary shard. */
export interface ShardPart {
  /** Its number, from 0. */
  shard: number
  documents: number
  /** Of the primary alone; `null` when the store does not report it. */
  bytes: number | null
}

/** The last write timestamp and the clock of the store; both epoch milliseconds. */
export interface WriteTimestampState {
  /** `null` before the first. */
  lastWriteTimestamp: number | null
  clockMs: number
}

/** The lead of the write timestamps over the store's clock, in milliseconds; 0 without a lead. */
export function writeTimestampsAheadMs({
  lastWriteTimestamp,
  clockMs,
}: WriteTimestampState): number {
  return Math.max(0, (lastWriteTimestamp ?? 0) - clockMs)
}

/** An index that must be written and does not exist, so no change can be written. */
export interface MissingTarget {
  name: string
  /** What an operator does about it. */
  remedy: string
}

export interface IndexOverview {
  /** Documents that a search can find. */
  documents: number
  /** Orders with a version record, erased ones included. */
  orders: number
  /** The newest write timestamp of a visible document, epoch milliseconds; `null` without any. */
  newestWrittenKey: number | null
  indices: readonly IndexPart[]
  /** The filters that are refused, because the live index lacks their fields. */
  missingFilters: readonly string[]
  missingTargets: readonly MissingTarget[]
  /** The write targets that were requested, while no writer has applied them yet. */
  pendingTargets: readonly string[]
  /** `null` before the first writer, and when a writer needs no lease. */
  writer: WriterOverview | null
  writeTimestamps: WriteTimestampState
}

/** Read access to the index without its lease: it changes nothing and never waits for a writer. */
export interface IndexInspection {
  /** Returns the current state, searchable yet or not. */
  versionRecords(orderIds: readonly string[]): Promise<Map<string, InspectedRecord>>
  /** The documents that exist among `keys`, as they are now, searchable yet or not. */
  documents(keys: readonly ViewKey[]): Promise<InspectedDocument[]>
  /** Which of `keys` have a document, without reading any document. */
  existingKeys(keys: readonly ViewKey[]): Promise<ViewKey[]>
  /**
   * Every document that existed when the scan began, in pages. A document that is written or
   * removed during the scan may be missing.
   */
  scanDocuments(): AsyncIterable<InspectedDocument[]>
  /**
   * Every version record that existed when the scan began, in pages. A record that is written
   * during the scan may have its earlier state.
   */
  scanVersionRecords(): AsyncIterable<InspectedRecord[]>
  /**
   * `maxWaitMs`: the maximum time to observe whether the writer is alive.
   * @throws Unavailable, also when the index does not exist
   */
  overview(maxWaitMs: number): Promise<IndexOverview>
  /** Cheap enough for every health check. @throws Unavailable, like `overview` */
  writeTimestamps(): Promise<WriteTimestampState>
  /**
   * Why clients miss orders, and what to do: the store reads another index than it writes, or hides
   * a part of it. `null` without such a fault. As cheap as `writeTimestamps`.
   */
  readAliasFault(): Promise<string | null>
}
