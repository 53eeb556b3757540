import type { Clock } from '../../lib/clock.ts'
import { type Change, isValidationError, type ValidationError } from '../projection/change.ts'
import type { DecideOptions, EqualVersionPolicy, WriteResult } from './decide.ts'
import {
  checkVersions,
  decideBulk,
  type Results,
  type VersionRecords,
  withResult,
} from './decide-bulk.ts'
import { renderedLength } from './order-document.ts'
import type { OrderIndex, OrderLock, WriteMode } from './order-index.ts'
import { readOrders } from './read-orders.ts'
import { DocumentRejectedError } from './writer-errors.ts'

export interface Writer {
  /**
   * Writes changes, those of one order in their sequence, and returns the result of each. A later
   * call that shares an order waits for all of them. After an error, retry the same changes: a
   * version that was written counts as older then.
   */
  write(changes: readonly Change[], mode: WriteMode): Promise<WriteResult[]>
}

export interface WriterOptions extends Pick<DecideOptions, 'announceSinceMs'> {
  /** How to treat a version that the index already has; `drop` when absent. */
  equalVersions?: EqualVersionPolicy
}

/** Writes changes to the index: lock → read → decide → commit. `clock`: epoch milliseconds. */
export function createWriter(
  index: Pick<OrderIndex, 'lock'>,
  clock: Clock,
  { equalVersions: policy = 'drop', announceSinceMs }: WriterOptions = {},
): Writer {
  return {
    async write(changes, mode) {
      // One lock for all rounds: between two locks, another call could write a newer version.
      const lock = await index.lock(changes.map(({ orderId }) => orderId))
      try {
        const results: WriteResult[] = []
        for (const round of inRounds(changes)) {
          const options = { mode, policy, announceSinceMs }
          const roundResults = await writeRound(lock, round, options, clock)
          for (const [n, { position }] of round.entries()) {
            results[position] = resultAt(roundResults, n)
          }
        }
        return results
      } finally {
        lock.release()
      }
    },
  }
}

/** Writes a batch, without the entries that are no change, and returns each entry's result. */
export async function writeChanges(
  writer: Writer,
  entries: readonly (Change | ValidationError)[],
  mode: WriteMode,
): Promise<WriteResult[]> {
  const changes = entries.flatMap((entry) => (isValidationError(entry) ? [] : [entry]))
  const results = changes.length > 0 ? await writer.write(changes, mode) : []
  let n = 0
  return entries.map((entry) => (isValidationError(entry) ? entry : resultAt(results, n++)))
}

function resultAt(results: readonly WriteResult[], n: number): WriteResult {
  const result = results[n]
  if (result === undefined) throw new Error('the writer returned no result for a change')
  return result
}

interface PositionedChange {
  change: Change
  /** The index among all changes. */
  position: number
}

/**
 * The first change of every order, then the second of those that have one, and so on: a bulk has
 * one change of each order.
 */
function inRounds(changes: readonly Change[]): PositionedChange[][] {
  const rounds: PositionedChange[][] = []
  const seen = new Map<string, number>()
  for (const [position, change] of changes.entries()) {
    const round = seen.get(change.orderId) ?? 0
    seen.set(change.orderId, round + 1)
    rounds[round] ??= []
    rounds[round].push({ change, position })
  }
  return rounds
}

/** Writes changes, each of another order, and returns their results in sequence. */
async function writeRound(
  lock: OrderLock,
  round: readonly PositionedChange[],
  options: DecideOptions,
  clock: Clock,
): Promise<WriteResult[]> {
  const results: WriteResult[] = []
  while (results.length < round.length) {
    const rest = round.slice(results.length).map(({ change }) => change)
    results.push(...(await writeFirst(lock, rest, options, clock)).values())
  }
  return results
}

/**
 * Repeats read → decide → commit until a commit succeeds, for the first changes that fit into one
 * bulk. Returns their results.
 */
async function writeFirst(
  lock: OrderLock,
  pending: readonly Change[],
  options: DecideOptions,
  clock: Clock,
): Promise<Results> {
  let rejected: Results = new Map()
  let bulk: readonly Change[] | undefined
  for (let earlier: Results = new Map(); ; ) {
    const transaction = await lock.begin()
    try {
      const orderIds = pending.map(({ orderId }) => orderId)
      const records = await transaction.versionRecords(
        orderIds.filter((orderId) => !rejected.has(orderId)),
      )
      // The reads may have waited for the store for minutes.
      const nowMs = clock()
      // Only this estimate needs the records of the changes after the bulk. A retry writes the same
      // changes, because results of its earlier attempts stay.
      bulk ??= firstBulk(pending, records)
      const decided = new Map([...checkVersions(bulk, records, options, nowMs), ...rejected])
      const orders = await readOrders(transaction, bulk, { records, decided, nowMs }, options)
      const { writes, results, isPreparation } = decideBulk(bulk, orders, earlier, options)
      if (!isPreparation) earlier = results
      if ((await transaction.commit(writes, options.mode)) && !isPreparation) return results
    } catch (error) {
      if (!(error instanceof DocumentRejectedError) || rejected.has(error.orderId)) throw error
      // The other orders are written without this one.
      const { orderId, message: reason } = error
      rejected = withResult(rejected, orderId, { path: '', reason })
      earlier = withResult(earlier, orderId, { path: '', reason })
    }
  }
}

/**
 * The bound of the documents that one bulk reads or writes. Only orders with dozens of
 * co-producers, or very large ones, reach it.
 */
const MAX_BULK_CHARACTERS = 32 * 1024 * 1024
/** Counted for a smaller document. */
const MIN_DOCUMENT_CHARACTERS = 8 * 1024
/** Counted for each document of a deletion, whose size is unknown. */
const DELETED_DOCUMENT_CHARACTERS = 64 * 1024

/** The first changes whose documents fit into one bulk, at least one. */
function firstBulk(changes: readonly Change[], records: VersionRecords): readonly Change[] {
  let characters = 0
  const end = changes.findIndex((change, at) => {
    characters += charactersOf(change, records.get(change.orderId)?.accountIds.length ?? 0)
    return at > 0 && characters > MAX_BULK_CHARACTERS
  })
  return end === -1 ? changes : changes.slice(0, end)
}

/** Stored documents count as large as the new ones. */
function charactersOf({ views }: Change, storedCount: number): number {
  const [view] = views
  const each =
    view === undefined
      ? DELETED_DOCUMENT_CHARACTERS
      : Math.max(renderedLength(view.order), MIN_DOCUMENT_CHARACTERS)
  return each * Math.max(views.length, storedCount)
}
