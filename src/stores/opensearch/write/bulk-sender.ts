import { DocumentRejectedError, type LastWrite } from '../../../indexing/writer/order-index.ts'
import { createRetryBudget } from '../../../lib/retry-until-deadline.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import type { OpenSearch } from '../client/client.ts'
import { readDocuments } from '../client/documents.ts'
import { concreteIndex, type IndexNames } from '../index-names.ts'
import { firstChunk, sendBulk } from './bulk-request.ts'
import { type BulkItemResult, describeResult, outcomeOf } from './bulk-response.ts'
import type { Lease } from './lease.ts'
import {
  type BulkAddress,
  type BulkTarget,
  createOptimisticConcurrency,
  type OptimisticConcurrency,
} from './optimistic-concurrency.ts'

export interface BulkOptions {
  client: OpenSearch
  names: IndexNames
  lease: Lease
  /** For each request, in milliseconds. */
  deadlineMs: number
  /** Receives the reason of a delay. */
  onDelay(reason: string): void
  /** Aborts a pause. */
  signal?: AbortSignal | undefined
}

export interface BulkItem {
  orderId: string
  address: BulkAddress
  /** Renders the document at the write timestamp of its bulk; absent to write a tombstone. */
  source?: (writeTimestamp: number) => string
}

export interface BulkSender {
  /**
   * Sends the items in order and returns once every shard copy has confirmed them. Items that met a
   * full queue are sent again with a new write timestamp.
   * @throws Unavailable when the outcome is unknown; DocumentRejectedError
   */
  send(target: BulkTarget, items: readonly BulkItem[], states: OptimisticConcurrency): Promise<void>
  /** The last document written; `null` before the first. */
  lastWrite(): LastWrite | null
}

/** Records are never shown to a client, so they carry no write timestamp. */
const NO_WRITE_TIMESTAMP = 0
const RETRY_DEADLINE_MS = 60_000
/** A full queue drains before this failure in a row. */
const LOGGED_FAILURE = 5
/** A reindex copies a record once, so a second conflict is rare. */
const MAX_RECORD_ATTEMPTS = 5
const QUEUE_FULL = 'the write queue of OpenSearch is full'

/**
 * Creates a sender for the holder of `lease`: it sends through the write aliases of its epoch, the
 * live index last.
 */
export function createBulkSender(options: BulkOptions): BulkSender {
  const { client, names, lease, deadlineMs, onDelay, signal } = options
  const eventRecordIndex = concreteIndex(names.eventRecords, 1)
  const versionRecordTargets = () => {
    const targets = lease.versionRecordTargets()
    return targets.length > 0 ? targets : [concreteIndex(names.versionRecords, 1)]
  }
  /**
   * For the other write targets, with unknown document states: only the write timestamp decides.
   */
  const unconditional = createOptimisticConcurrency()
  let lastWrite: LastWrite | null = null

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
            ? await sendVersionRecords(pending, states)
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
  ) {
    const writeTimestamp =
      target === 'orders' ? await lease.nextWriteTimestamp() : NO_WRITE_TIMESTAMP
    const [live = '', ...others] = target === 'orders' ? lease.writeTargets() : [eventRecordIndex]
    const chunk = firstChunk(items, (item) => actionLines(states, target, item, writeTimestamp))
    const sent = items.slice(0, chunk.length)
    // The live index is last: after a crash, the others still hold all its documents (reindex.md).
    const isComplete = await sendToOthers(others, target, sent, writeTimestamp)
    const written = new Set(isComplete ? await sendTo(live, sent, chunk) : [])
    const accountId = [...written].findLast(({ source }) => source)?.address.routing
    if (accountId !== undefined) lastWrite = { accountId, writeTimestamp }
    return {
      sent: sent.length,
      remaining: items.slice(sent.length),
      rejected: sent.filter((item) => !written.has(item)),
    }
  }

  /**
   * Sends the version records that fit into one request to every index of them, the one that is read
   * last. See `reindex.md`.
   */
  async function sendVersionRecords(items: readonly BulkItem[], states: OptimisticConcurrency) {
    const chunk = firstChunk(items, (item) => actionLines(states, 'versionRecords', item, 0))
    const sent = items.slice(0, chunk.length)
    const rejectedAll = { sent: sent.length, remaining: items.slice(sent.length), rejected: sent }
    const [live = '', ...others] = versionRecordTargets()
    for (const index of others) if (!(await replaceRecords(index, sent))) return rejectedAll
    let rejected: readonly BulkItem[] = []
    if (others.length === 0) {
      const written = new Set(await sendTo(live, sent, chunk))
      rejected = sent.filter((item) => !written.has(item))
    } else if (!(await replaceRecords(live, sent))) return rejectedAll
    // A fence may have added an index during the request.
    for (const done = new Set([live, ...others]); ; ) {
      const index = versionRecordTargets().find((target) => !done.has(target))
      if (index === undefined) break
      if (!(await replaceRecords(index, sent))) return rejectedAll
      done.add(index)
    }
    return { ...rejectedAll, rejected }
  }

  /**
   * Writes records to an index that the transaction did not read: each replaces the state that is
   * there now. Only a copy of a reindex changes it meanwhile. Returns `false` for a full queue.
   * @throws like {@link checkAccepted}
   */
  async function replaceRecords(index: string, items: readonly BulkItem[]): Promise<boolean> {
    let pending = items
    for (let attempt = 1; pending.length > 0; attempt++) {
      const states = createOptimisticConcurrency()
      const docs = pending.map(({ address }) => address)
      const request = { index, docs, _source: false as const, preference: '_primary' as const }
      for (const found of await readDocuments(client, deadlineMs, request)) {
        const { _id, _seq_no, _primary_term } = found
        if (_seq_no === undefined || _primary_term === undefined) continue
        const state = { if_seq_no: _seq_no, if_primary_term: _primary_term }
        states.recordState('versionRecords', _id, state)
      }
      const lines = pending.map((item) => actionLines(states, 'versionRecords', item, 0))
      const results = await sendToAlias(index, lines)
      const isLast = attempt === MAX_RECORD_ATTEMPTS
      pending = pending.filter((item, at) => {
        const result = results[at]
        if (!isLast && result !== undefined && outcomeOf(result) === 'conflict') return true
        return !checkAccepted(item, result)
      })
      if (results.some((result) => outcomeOf(result) === 'overloaded')) return false
    }
    return true
  }

  /**
   * Whether every item is in every other target. Otherwise all of them are sent again: a shard with a
   * full queue rejects its part alone, and a bulk without that part must not reach the live index.
   * See `fence.md`.
   */
  async function sendToOthers(
    others: readonly string[],
    target: BulkTarget,
    items: readonly BulkItem[],
    writeTimestamp: number,
  ): Promise<boolean> {
    for (const index of others) {
      const lines = items.map((item) => actionLines(unconditional, target, item, writeTimestamp))
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
    const results = await sendToAlias(index, lines)
    return items.filter((item, at) => checkAccepted(item, results[at]))
  }

  function sendToAlias(index: string, lines: readonly string[]): Promise<BulkItemResult[]> {
    const epoch = lease.epoch()
    const request = {
      alias: names.writeAlias(index, epoch),
      lines,
      opaqueId: names.opaqueId(epoch),
    }
    return sendBulk(client, deadlineMs, request)
  }
}

/**
 * Whether OpenSearch accepted an item. A rejected one met a full queue and can be sent again.
 * @throws Unavailable when the document must be read again before a retry; DocumentRejectedError
 */
function checkAccepted({ orderId, address: { _id } }: BulkItem, result?: BulkItemResult): boolean {
  if (result === undefined) throw new Unavailable(`no result for ${_id}`)
  const outcome = outcomeOf(result)
  if (outcome === 'accepted') return true
  if (outcome === 'overloaded') return false
  const description = describeResult(result)
  if (outcome === 'unmapped') {
    throw new Error(
      `the mapping of the index lacks a field of ${_id}: run "index init", which adds it: ${description}`,
    )
  }
  if (outcome === 'invalid') {
    throw new DocumentRejectedError(orderId, `OpenSearch rejected ${_id}: ${description}`)
  }
  throw new Unavailable(`OpenSearch did not write ${_id}: ${description}`)
}

function actionLines(
  states: OptimisticConcurrency,
  target: BulkTarget,
  item: BulkItem,
  writeTimestamp: number,
): string {
  const { address, source } = item
  if (source === undefined) return states.tombstoneAction(address, writeTimestamp)
  return `${states.indexAction(target, address, writeTimestamp)}${source(writeTimestamp)}\n`
}
