import type { LastWrite } from '../../../indexing/writer/order-index.ts'
import { createRetryBudget } from '../../../lib/async/retry-until-deadline.ts'
import { MINUTE_MS } from '../../../lib/durations.ts'
import { Unavailable } from '../../../lib/errors/unavailable.ts'
import { firstChunk, MAX_REQUEST_CHARACTERS, sendBulk } from '../client/bulk/bulk-request.ts'
import type { BulkItemResult } from '../client/bulk/bulk-response.ts'
import type { OpenSearch } from '../client/client.ts'
import { concreteIndex, type IndexNames } from '../indices/index-names.ts'
import { actionLines, type BulkItem, checkAccepted } from './bulk-item.ts'
import type { Lease } from './lease/lease.ts'
import type { BulkTarget, OptimisticConcurrency } from './optimistic-concurrency.ts'
import { createVersionRecordSender, type SentChunk } from './version-record-sender.ts'
import type { WrittenStates } from './written-states.ts'

export interface BulkOptions {
  client: OpenSearch
  names: IndexNames
  lease: Lease
  /** Receives the results of each bulk to an index that is read. */
  written: Pick<WrittenStates, 'record'>
  /** For each request, in milliseconds. */
  deadlineMs: number
  /** Receives the reason of a delay, in words for an operator. */
  onDelay(reason: string): void
  /** Aborts a pause. */
  signal?: AbortSignal | undefined
}

export interface BulkSender {
  /**
   * Sends the items in order and returns once every shard copy has confirmed them. Items that met a
   * full queue are sent again with a new write timestamp.
   * @throws Unavailable when the outcome is unknown, or queues are full for a minute; like
   * {@link checkAccepted}; LeaseLostError, ClockSkewError; Error when OpenSearch rejects a request,
   * or when `signal` aborts a pause
   */
  send(target: BulkTarget, items: readonly BulkItem[], states: OptimisticConcurrency): Promise<void>
  /** The last document written; `null` before the first. */
  lastWrite(): LastWrite | null
}

/** A bulk of records needs none. */
const NO_WRITE_TIMESTAMP = 0
/** A few orders. */
const MIN_REQUEST_CHARACTERS = 64 * 1024
const RETRY_DEADLINE_MS = MINUTE_MS
/** A full queue drains before this failure in a row. */
const LOGGED_FAILURE = 5
const QUEUE_FULL = 'the write queue of OpenSearch is full'

/**
 * Creates a sender for the holder of `lease`: it sends through the write aliases of its epoch, the
 * live index last.
 */
export function createBulkSender(options: BulkOptions): BulkSender {
  const { client, names, lease, written, deadlineMs, onDelay, signal } = options
  const eventRecordIndex = concreteIndex(names.eventRecords, 1)
  const versionRecords = createVersionRecordSender({
    client,
    written,
    deadlineMs,
    targets() {
      const targets = lease.versionRecordTargets()
      return targets.length > 0 ? targets : [concreteIndex(names.versionRecords, 1)]
    },
    sendLines,
  })
  let lastWrite: LastWrite | null = null
  /**
   * Of a request of orders. Half of one that failed, since the retry writes all of it again: on a
   * slow cluster it would never end in time. The last request of a bulk increases it by the
   * minimum, so that few bulks fail again.
   */
  let maxCharacters = MAX_REQUEST_CHARACTERS

  return {
    lastWrite: () => lastWrite,

    async send(target, items, states) {
      const budget = createRetryBudget({
        deadlineMs: RETRY_DEADLINE_MS,
        backoff: { firstMs: 50 },
        signal,
        activity: 'OpenSearch rejected bulks for full queues',
        onRetry({ message }, failures) {
          if (failures === LOGGED_FAILURE) onDelay(`${message}; retrying`)
        },
      })
      for (let pending = items; pending.length > 0; ) {
        const { sent, remaining, rejected } =
          target === 'versionRecords'
            ? await versionRecords.send(pending, states)
            : await sendChunk(target, pending, states)
        pending = [...rejected, ...remaining]
        if (rejected.length < sent) budget.resetBackoff()
        if (rejected.length > 0) await budget.backOff(new Unavailable(QUEUE_FULL))
      }
    },
  }

  /** Sends the items that fit into one request to every write target. */
  async function sendChunk(
    target: 'orders' | 'eventRecords',
    items: readonly BulkItem[],
    states: OptimisticConcurrency,
  ): Promise<SentChunk> {
    const writeTimestamp =
      target === 'orders' ? await lease.nextWriteTimestamp() : NO_WRITE_TIMESTAMP
    const linesOf = (item: BulkItem) => actionLines(states, target, item, writeTimestamp)
    const chunk = firstChunk(items, linesOf, target === 'orders' ? maxCharacters : undefined)
    const sent = items.slice(0, chunk.length)
    const remaining = items.slice(sent.length)
    const accepted = await sendToAll(target, sent, chunk).catch((error) => {
      if (target === 'orders' && error instanceof Unavailable) maxCharacters = halfOf(chunk)
      throw error
    })
    if (target === 'orders' && accepted.size === items.length)
      maxCharacters = Math.min(MAX_REQUEST_CHARACTERS, maxCharacters + MIN_REQUEST_CHARACTERS)
    const accountId = [...accepted].findLast(({ source }) => source)?.address.routing
    if (accountId !== undefined) lastWrite = { accountId, writeTimestamp }
    return { sent: sent.length, remaining, rejected: sent.filter((item) => !accepted.has(item)) }
  }

  /** The items that every target accepted. */
  async function sendToAll(
    target: 'orders' | 'eventRecords',
    items: readonly BulkItem[],
    lines: readonly string[],
  ): Promise<ReadonlySet<BulkItem>> {
    const [live = '', ...others] = target === 'orders' ? lease.writeTargets() : [eventRecordIndex]
    // The live index is last: after a crash, the others still hold all its documents (reindex.md).
    const isComplete = await sendToOthers(others, items, lines)
    return new Set(isComplete ? await sendTo(live, items, lines) : [])
  }

  /**
   * Whether every item is in every other target. Otherwise all of them are sent again, because a
   * shard with a full queue rejects its part alone. A bulk without that part must not reach the
   * live index. See `lease/fence.md`.
   */
  async function sendToOthers(
    others: readonly string[],
    items: readonly BulkItem[],
    lines: readonly string[],
  ): Promise<boolean> {
    for (const index of others) {
      const accepted = await sendTo(index, items, lines)
      if (accepted.length < items.length) return false
    }
    return true
  }

  /**
   * The items that `index` accepted; the others met a full queue.
   * @throws like {@link checkAccepted}
   */
  async function sendTo(
    index: string,
    items: readonly BulkItem[],
    lines: readonly string[],
  ): Promise<readonly BulkItem[]> {
    const results = await sendLines(index, lines)
    if (index === lease.writeTargets()[0]) written.record(index, items, results)
    return items.filter((item, at) => checkAccepted(item, results[at]))
  }

  function sendLines(index: string, lines: readonly string[]): Promise<BulkItemResult[]> {
    const epoch = lease.epoch()
    const request = {
      alias: names.writeAlias(index, epoch),
      lines,
      opaqueId: names.opaqueId(epoch),
    }
    return sendBulk(client, deadlineMs, request)
  }
}

/** Half of the characters of a request that failed, and at least the minimum. */
function halfOf(lines: readonly string[]): number {
  const characters = lines.reduce((sum, { length }) => sum + length, 0)
  return Math.max(MIN_REQUEST_CHARACTERS, Math.floor(characters / 2))
}
