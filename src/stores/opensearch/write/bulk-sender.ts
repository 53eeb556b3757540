import { DocumentRejectedError, type LastWrite } from '../../../indexing/writer/order-index.ts'
import { createRetryBudget } from '../../../lib/retry-until-deadline.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import type { OpenSearch } from '../client/client.ts'
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
  /** For each request. */
  deadlineMs: number
  /** Told what is waited for. */
  onDelay(reason: string): void
  /** Ends the waiting. */
  signal?: AbortSignal | undefined
}

export interface BulkItem {
  orderId: string
  address: BulkAddress
  /** The document at the stamp of the request that it is sent in; absent to remove it, from the orders. */
  source?: (writeTimestamp: number) => string
}

export interface BulkSender {
  /**
   * Sends the items in their order and returns once every copy has them all. What OpenSearch has no room
   * for is sent again, with the stamp of then.
   * @throws Unavailable: nobody knows what was written; DocumentRefused
   */
  send(target: BulkTarget, items: readonly BulkItem[], states: OptimisticConcurrency): Promise<void>
  /** The document that was written last of all; `null` before the first. */
  lastWrite(): LastWrite | null
}

/** Version records are never shown to a client, so they carry no write timestamp. */
const NO_WRITE_TIMESTAMP = 0
const RETRY_DEADLINE_MS = 60_000
/** A full queue drains before this failure in a row. */
const LOGGED_FAILURE = 5
const QUEUE_FULL = 'the write queue of OpenSearch is full'

export function createBulkSender(options: BulkOptions): BulkSender {
  const { client, names, lease, deadlineMs, onDelay, signal } = options
  const versionRecords = concreteIndex(names.heads, 1)
  /** Of the indices that are not read nothing is known: a stamp alone is the condition there. */
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
        const { sent, remaining, rejected } = await sendChunk(target, pending, states)
        pending = [...rejected, ...remaining]
        if (rejected.length < sent) budget.resetBackoff()
        if (rejected.length > 0) await budget.backOff(new Unavailable(QUEUE_FULL))
      }
    },
  }

  /** As many items as fit into one request, sent to every index that takes them. */
  async function sendChunk(
    target: BulkTarget,
    items: readonly BulkItem[],
    states: OptimisticConcurrency,
  ) {
    const writeTimestamp =
      target === 'orders' ? await lease.nextWriteTimestamp() : NO_WRITE_TIMESTAMP
    const [live = '', ...others] = target === 'orders' ? lease.writeTargets() : [versionRecords]
    const chunk = firstChunk(items, (item) => actionLines(states, target, item, writeTimestamp))
    const sent = items.slice(0, chunk.length)
    // The index that is read comes last: whatever it has the others have too, also when all ends here.
    let accepted: readonly BulkItem[] = sent
    for (const index of others) {
      const lines = accepted.map((item) => actionLines(unconditional, target, item, writeTimestamp))
      accepted = await sendTo(index, accepted, lines)
    }
    const liveLines =
      others.length === 0
        ? chunk
        : accepted.map((item) => actionLines(states, target, item, writeTimestamp))
    const written = new Set(await sendTo(live, accepted, liveLines))
    const accountId = [...written].findLast(({ source }) => source)?.address.routing
    if (accountId !== undefined) lastWrite = { accountId, writeTimestamp }
    return {
      sent: sent.length,
      remaining: items.slice(sent.length),
      rejected: sent.filter((item) => !written.has(item)),
    }
  }

  /** The items that `index` accepted; the others met a full queue. @throws like {@link checkAccepted} */
  async function sendTo(
    index: string,
    items: readonly BulkItem[],
    lines: readonly string[],
  ): Promise<readonly BulkItem[]> {
    const epoch = lease.epoch()
    const request = {
      alias: names.writeAlias(index, epoch),
      lines,
      opaqueId: names.opaqueId(epoch),
    }
    const results = await sendBulk(client, deadlineMs, request)
    return items.filter((item, at) => checkAccepted(item, results[at]))
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
