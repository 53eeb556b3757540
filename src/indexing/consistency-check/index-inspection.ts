import type { OrderVersionRecord, ViewKey, WriterPurpose } from '../writer/order-index.ts'

/** What a document is searched and sorted by. */
export const keyFields = [
  'account_id',
  'id',
  'shape',
  'status',
  'payment_method',
  'created_key',
  'updated_key',
  'written_key',
] as const
export type KeyField = (typeof keyFields)[number]

/** A document as it was found, whatever is in it. */
export interface FoundDocument {
  /** Where the store keeps it. */
  address: ViewKey
  /** Any of them may be missing or of a wrong type. */
  keys: Readonly<Partial<Record<KeyField, unknown>>>
  /** The order inside; of one that was found in a walk, at least what its keys are made of. */
  order: unknown
  /** It is not as it was written. Only a store that keeps a checksum beside each document can tell. */
  damaged?: true
}

/** The writer, as far as whoever does not write can tell. */
export interface WriterOverview {
  holder: string
  purpose: WriterPurpose
  /** It handed its place back. */
  released: boolean
  /** `true`: it was seen to renew its lease; `null`: nobody looked for long enough to tell. */
  alive: boolean | null
  /** How long its lease lasts without being renewed. */
  leaseMs: number
}

export interface IndexPart {
  name: string
  /** Whether orders are read from it. */
  read: boolean
  /** Whether what is written goes into it. */
  fed: boolean
  documents: number
  /** On all copies together; `null` where nobody knows. */
  bytes: number | null
}

/** The last stamp beside the clock of the store; both epoch milliseconds. */
export interface WriteTimestampState {
  /** `null` before the first. */
  lastWriteTimestamp: number | null
  clockMs: number
}

/** How far what was stamped is ahead of the store's clock, in milliseconds; 0 where it is not. */
export function writeTimestampsAheadMs({
  lastWriteTimestamp,
  clockMs,
}: WriteTimestampState): number {
  return Math.max(0, (lastWriteTimestamp ?? 0) - clockMs)
}

export interface IndexOverview {
  /** Documents that a search can find. */
  documents: number
  /** Orders that the index knows a version of, erased ones too. */
  orders: number
  /** When the last of the visible documents was written, epoch milliseconds; `null` without any. */
  newestWrittenKey: number | null
  indices: readonly IndexPart[]
  /** `null` before the first, and where a writer needs no lease. */
  writer: WriterOverview | null
  writeTimestamps: WriteTimestampState
}

/** Looks into the index without being its writer: it changes nothing and waits for nobody. */
export interface IndexInspection {
  /** As they are now, searchable yet or not. */
  versionRecords(orderIds: readonly string[]): Promise<Map<string, OrderVersionRecord>>
  /** The documents that exist among `keys`, as they are now, searchable yet or not. */
  documents(keys: readonly ViewKey[]): Promise<FoundDocument[]>
  /** Which of `keys` have a document, as `documents` would tell, without reading any. */
  existingKeys(keys: readonly ViewKey[]): Promise<ViewKey[]>
  /**
   * Every document that was there when the walk began, in pages; one that is removed or written while it
   * goes on may be in it or not.
   */
  scanDocuments(): AsyncIterable<FoundDocument[]>
  /**
   * Every head that was there when the walk began, in pages; it may be told as it was then, though it was
   * written since.
   */
  scanVersionRecords(): AsyncIterable<OrderVersionRecord[]>
  /**
   * `lookMs`: how long to look at most whether the writer is alive.
   * @throws Unavailable, also when the index was never made
   */
  overview(maxWaitMs: number): Promise<IndexOverview>
  /** Cheap enough to be asked by every health check. @throws as `overview` */
  writeTimestamps(): Promise<WriteTimestampState>
}
