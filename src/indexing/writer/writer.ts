import type { Clock } from '../../lib/clock.ts'
import { type EventRecord, lastSequence } from '../../webhooks/events/event-record.ts'
import { type Change, isValidationError, type ValidationError } from '../projection/change.ts'
import { type EqualVersionPolicy, viewKeys, type WriteResult } from './decide.ts'
import {
  checkVersions,
  type DecideOptions,
  decideBulk,
  type LoadedOrders,
  type Results,
  type VersionRecords,
  withResult,
} from './decide-bulk.ts'
import {
  DocumentRejectedError,
  type EventRecordKey,
  type IndexReader,
  type OrderIndex,
  type OrderLock,
  type WriteMode,
} from './order-index.ts'

export interface Writer {
  /**
   * Writes one bulk of changes, each of another order, and returns the result of each, in their
   * order. After an error, retry the same changes: a version that was written counts as older then.
   */
  write(changes: readonly Change[], mode: WriteMode): Promise<WriteResult[]>
}

export interface WriterOptions {
  /** How to treat a version that the index already has; `drop` when absent. */
  equalVersions?: EqualVersionPolicy
}

/** Writes changes to the index: lock → load → decide → commit. `clock`: epoch milliseconds. */
export function createWriter(
  index: Pick<OrderIndex, 'lock'>,
  clock: Clock,
  { equalVersions: policy = 'drop' }: WriterOptions = {},
): Writer {
  return {
    async write(changes, mode) {
      const lock = await index.lock(changes.map(({ orderId }) => orderId))
      try {
        const results = await writeLocked(lock, changes, { mode, policy }, clock)
        return [...results.values()]
      } finally {
        lock.release()
      }
    },
  }
}

/**
 * Writes a batch that may have several changes of one order, in their sequence, and returns each
 * entry's result. A bulk has one change of each order, so second changes go into a second bulk.
 */
export async function writeChanges(
  writer: Writer,
  entries: readonly (Change | ValidationError)[],
  mode: WriteMode,
): Promise<WriteResult[]> {
  const results: WriteResult[] = entries.map((entry) =>
    isValidationError(entry) ? entry : 'unchanged',
  )
  for (const round of inRounds(entries)) {
    const roundResults = await writer.write(
      round.map(({ change }) => change),
      mode,
    )
    for (const [n, { position }] of round.entries()) {
      const result = roundResults[n]
      if (result === undefined) throw new Error('the writer returned no result for a change')
      results[position] = result
    }
  }
  return results
}

interface PositionedChange {
  change: Change
  /** The index among all entries. */
  position: number
}

/** The first change of every order, then the second of those that have one, and so on. */
function inRounds(entries: readonly (Change | ValidationError)[]): PositionedChange[][] {
  const rounds: PositionedChange[][] = []
  const seen = new Map<string, number>()
  for (const [position, change] of entries.entries()) {
    if (isValidationError(change)) continue
    const round = seen.get(change.orderId) ?? 0
    seen.set(change.orderId, round + 1)
    rounds[round] ??= []
    rounds[round].push({ change, position })
  }
  return rounds
}

/** Repeats load → decide → commit until a commit succeeds. */
async function writeLocked(
  lock: OrderLock,
  changes: readonly Change[],
  options: DecideOptions,
  clock: Clock,
): Promise<Results> {
  let rejected: Results = new Map()
  for (let earlier: Results = new Map(); ; ) {
    const transaction = await lock.begin()
    const loaded = await load(transaction, changes, rejected, options, clock)
    const { writes, results, isPreparation } = decideBulk(changes, loaded, earlier, options)
    if (!isPreparation) earlier = results
    try {
      if ((await transaction.commit(writes, options.mode)) && !isPreparation) return results
    } catch (error) {
      if (!(error instanceof DocumentRejectedError) || rejected.has(error.orderId)) throw error
      // The other orders are written without this one.
      const { orderId, message: reason } = error
      rejected = withResult(rejected, orderId, { path: '', reason })
      earlier = withResult(results, orderId, { path: '', reason })
    }
  }
}

/**
 * Reads the version records of all changes, then the documents of those that the records let pass.
 */
async function load(
  reader: IndexReader,
  changes: readonly Change[],
  rejected: Results,
  options: DecideOptions,
  clock: Clock,
): Promise<LoadedOrders> {
  const records = await reader.versionRecords(changes.map(({ orderId }) => orderId))
  // The reads may have waited for the store for minutes.
  const nowMs = clock()
  const decided = new Map([...checkVersions(changes, records, options, nowMs), ...rejected])
  const accepted = changes.map(({ orderId }) => orderId).filter((id) => !decided.has(id))
  const candidates = await (options.policy === 'repair'
    ? reader.scan(accepted)
    : reader.orphans(accepted))
  const candidatesOf = Map.groupBy(candidates, ({ orderId }) => orderId)
  const keys = accepted.flatMap((orderId) =>
    viewKeys(orderId, records.get(orderId), candidatesOf.get(orderId) ?? []),
  )
  const pending = changes.filter(({ orderId }) => !decided.has(orderId))
  const [stored, announced] = await Promise.all([
    reader.views(keys),
    loadAnnounced(reader, pending, records),
  ])
  return { records, decided, stored, nowMs, ...announced }
}

/**
 * Reads what only accounts with a webhook endpoint need. The event records of every order, because
 * the account of a lost change may be in its event record alone: see `recording.md`.
 */
async function loadAnnounced(
  reader: Pick<IndexReader, 'subscribers' | 'eventRecords'>,
  changes: readonly Change[],
  records: VersionRecords,
): Promise<Pick<LoadedOrders, 'subscribers' | 'events'>> {
  const subscribers = await reader.subscribers()
  const events = new Map<string, EventRecord[]>()
  if (subscribers.size === 0) return { subscribers, events }
  let keys = changes.map(
    ({ orderId }): EventRecordKey => ({
      orderId,
      sequence: (records.get(orderId)?.announced?.sequence ?? 0) + 1,
    }),
  )
  while (keys.length > 0) {
    const found = await reader.eventRecords(keys)
    for (const record of found) {
      events.set(record.orderId, [...(events.get(record.orderId) ?? []), record])
    }
    keys = found.map((record) => ({
      orderId: record.orderId,
      sequence: lastSequence(record) + 1,
    }))
  }
  return { subscribers, events }
}
