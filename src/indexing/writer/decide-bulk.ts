import type { EventRecord } from '../../webhooks/events/event-record.ts'
import type { Change } from '../projection/change.ts'
import { type Announcement, announceChange } from './announce-change.ts'
import { announcedOrder, completeFromViews } from './announced-order.ts'
import {
  checkDocuments,
  checkVersion,
  type DecideOptions,
  decide,
  type WriteResult,
} from './decide.ts'
import { isReadable } from './found-views.ts'
import type { BulkWrites, FoundView, Subscribers } from './order-index.ts'
import type { OrderVersionRecord } from './version-record.ts'

/** The order version records of a bulk, by order id. */
export type VersionRecords = ReadonlyMap<string, OrderVersionRecord>
/** Results by order id, since a bulk has one change of each order. */
export type Results = ReadonlyMap<string, WriteResult>

export interface BulkDecision {
  writes: BulkWrites
  /** One result for each change. */
  results: Results
  /**
   * Whether the writes only complete announced states: decide again once they are committed.
   */
  isPreparation: boolean
}

/**
 * The results that version records alone decide; changes without one need their documents. `nowMs`:
 * the writer's clock after the reads, epoch milliseconds. Pure.
 */
export function checkVersions(
  changes: readonly Change[],
  records: VersionRecords,
  options: DecideOptions,
  nowMs: number,
): Results {
  const results = changes.map(
    (change) =>
      [change.orderId, checkVersion(change, records.get(change.orderId), options, nowMs)] as const,
  )
  return new Map(results.flatMap(([orderId, result]) => (result ? [[orderId, result]] : [])))
}

/** What a transaction read, and the results that need no documents. */
export interface ReadOrders {
  records: VersionRecords
  /** Event records beyond the version record of their order, oldest first. */
  events: ReadonlyMap<string, readonly EventRecord[]>
  /** The accounts with a webhook endpoint. */
  subscribers: Subscribers
  /** The writer's clock after the reads, epoch milliseconds. */
  nowMs: number
  /** Results of {@link checkVersions} and of documents that the store rejected. */
  decided: Results
  /** The documents of the other changes. */
  stored: readonly FoundView[]
}

/** Decides one bulk. `earlier`: the results of attempts before this one. Pure. */
export function decideBulk(
  changes: readonly Change[],
  { records, decided, stored, events, subscribers, nowMs }: ReadOrders,
  earlier: Results,
  options: DecideOptions,
): BulkDecision {
  const { mode, policy, announceSinceMs } = options
  const storedOf = Map.groupBy(stored, ({ orderId }) => orderId)
  const completed: OrderVersionRecord[] = []
  const decisions = changes.map((change): Decision => {
    const { orderId } = change
    const unrecorded = events.get(orderId) ?? []
    const isOutdated = policy !== 'repair' && isOlderThanAnnounced(change, unrecorded)
    const result = decided.get(orderId) ?? (isOutdated ? 'older' : undefined)
    if (result !== undefined) return { orderId, result }
    const record = records.get(orderId)
    const documents = storedOf.get(orderId) ?? []
    const writes = decide(change, record, documents, options)
    const byDocuments = checkDocuments(change, record, documents, writes, policy)
    if (byDocuments !== undefined) return { orderId, result: byDocuments }
    // A reprojected version is announced already, but a newer one is a change like any other.
    const isReprojected = policy === 'reproject' && change.version === record?.version
    const isSilent = mode === 'history' || isReprojected || isMadeBefore(change, announceSinceMs)
    const before = announcedOrder(change, record, unrecorded)
    const announced = isSilent
      ? null
      : completeFromViews(before, documents.filter(isReadable), subscribers)
    if (record !== undefined && announced !== null) completed.push({ ...record, announced })
    const announcement = announceChange(change, before, { subscribers, isSilent, nowMs })
    return { orderId, result: resultOf(writes), writes: withAnnouncement(writes, announcement) }
  })
  const isPreparation = completed.length > 0
  return {
    writes: isPreparation
      ? { ...NO_WRITES, versionRecords: completed }
      : mergeWrites(decisions.flatMap(({ writes }) => writes ?? [])),
    isPreparation,
    results: new Map(
      decisions.map(({ orderId, result }) => [orderId, mergeResult(earlier.get(orderId), result)]),
    ),
  }
}

/**
 * A writer that died before the version record may have announced a newer version, after it stored
 * the documents. An older one would revert an announced change. After a restore without these
 * documents, a repair writes it nevertheless.
 */
function isOlderThanAnnounced(
  { version }: Pick<Change, 'version'>,
  unrecorded: readonly EventRecord[],
): boolean {
  return unrecorded.some((record) => record.version > version)
}

/**
 * By the clock of the platform. A change without `changed_at` is as old as its order. One without
 * both, such as a deletion, is before no instant but Infinity.
 */
function isMadeBefore(
  { changedAt, createdKey }: Pick<Change, 'changedAt' | 'createdKey'>,
  sinceMs = -Infinity,
): boolean {
  return (changedAt ?? createdKey ?? Number.MAX_VALUE) < sinceMs
}

const NO_WRITES: BulkWrites = { views: [], removals: [], eventRecords: [], versionRecords: [] }

function withAnnouncement(
  writes: BulkWrites,
  { announced, eventRecord }: Announcement,
): BulkWrites {
  return {
    ...writes,
    eventRecords: eventRecord === null ? [] : [eventRecord],
    versionRecords: writes.versionRecords.map((record) => ({ ...record, announced })),
  }
}

interface Decision {
  orderId: string
  result: WriteResult
  writes?: BulkWrites
}

/**
 * An attempt of unknown outcome may have written a change that the next attempt finds unchanged or
 * older, so its result stays. A later write or rejection by the store replaces it.
 */
function mergeResult(earlier: WriteResult | undefined, latest: WriteResult): WriteResult {
  return latest === 'written' ? latest : (earlier ?? latest)
}

/** The results with one added or replaced. Pure. */
export function withResult(results: Results, orderId: string, result: WriteResult): Results {
  return new Map([...results, [orderId, result]])
}

/** Sorted by order id: a refresh may show readers any prefix of a bulk. */
function mergeWrites(writes: readonly BulkWrites[]): BulkWrites {
  return {
    views: writes
      .flatMap(({ views }) => views)
      .toSorted((one, other) => (one.orderId < other.orderId ? -1 : 1)),
    removals: writes.flatMap(({ removals }) => removals),
    eventRecords: writes.flatMap(({ eventRecords }) => eventRecords),
    versionRecords: writes.flatMap(({ versionRecords }) => versionRecords),
  }
}

function resultOf({ views, removals }: BulkWrites): WriteResult {
  return views.length + removals.length > 0 ? 'written' : 'unchanged'
}
