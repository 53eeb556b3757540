import { MAX_CLOCK_SKEW_MS } from '../../../indexing/writer/clock-skew.ts'
import type { WriteMode } from '../../../indexing/writer/decide.ts'
import { renderDocument } from '../../../indexing/writer/order-document.ts'
import type {
  OrderIndex,
  OrderVersionRecord,
  ViewKey,
  ViewWrite,
  WriterPurpose,
} from '../../../indexing/writer/order-index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createMutex } from '../../../lib/mutex.ts'
import { retryUntilDeadline } from '../../../lib/retry-until-deadline.ts'
import { type OpenSearch, read } from '../client/client.ts'
import type { EnsureIndices } from '../ensure-indices.ts'
import { concreteIndex, type IndexNames } from '../index-names.ts'
import { documentId, serializeDocument } from '../order-document.ts'
import { acquireLease } from './acquire-lease.ts'
import { type BulkItem, createBulkSender } from './bulk-sender.ts'
import { createFence } from './fence.ts'
import { createIndexReader, toVersionRecordSource } from './index-reader.ts'
import { createKeyedLock, type LockSession } from './keyed-lock.ts'
import { leaseDocument } from './lease-document.ts'
import {
  createOptimisticConcurrency,
  type OptimisticConcurrency,
} from './optimistic-concurrency.ts'
import { createStoreClock } from './store-clock.ts'
import { readMaxWriteTimestamp } from './write-timestamps.ts'

export interface OpenSearchOrderIndexOptions {
  client: OpenSearch
  names: IndexNames
  ensureIndices: Pick<EnsureIndices, 'orders'>
  leaseMs: number
  /** For each request of a bulk, the response body included. */
  deadlineMs: number
  /** Epoch milliseconds. */
  clock: Clock
  purpose: WriterPurpose
  /** Receives the reason of a delay, for an operator. */
  onDelay(reason: string): void
  /** Aborts the wait for another writer or for OpenSearch. */
  signal?: AbortSignal | undefined
}

const CLOSE_REFRESH_MS = 4_000
/** Longer than a cluster needs to replace a node. */
const RETRY_DEADLINE_MS = 300_000

/**
 * Becomes the only writer of the index until `close`. All shard copies confirm the documents of a
 * bulk before the next bulk gets its write timestamp. A refresh shows a prefix of the bulks, so
 * write timestamps
 * increase in the order of visibility (`src/orders/paging.md`). Decisions and version records are
 * invisible to clients, so they overlap with the bulk of another batch.
 * @throws Unavailable; an error of `clock-skew.ts`; Error when OpenSearch rejects a request or
 * `signal` aborts
 */
export async function openOpenSearchOrderIndex(
  options: OpenSearchOrderIndexOptions,
): Promise<OrderIndex> {
  const { client, names, ensureIndices, leaseMs, deadlineMs, clock, purpose, onDelay, signal } =
    options
  await ensureIndices.orders()
  const leaseDeadlineMs = Math.min(leaseMs, deadlineMs)
  const storeClock = createStoreClock(client, leaseDeadlineMs)
  const lease = await acquireLease({
    document: leaseDocument(client, names, leaseDeadlineMs),
    fence: createFence({ client, names, deadlineMs, onDelay }),
    leaseMs,
    clock,
    storeClock,
    maxWriteTimestamp: () => readMaxWriteTimestamp(client, names, deadlineMs),
    firstTarget: concreteIndex(names.orders, 1),
    purpose,
    onTargetsChanged: () => applyTargets(),
    onDelay,
    signal,
  })
  const { send, lastWrite } = createBulkSender({
    client,
    names,
    lease,
    deadlineMs,
    onDelay,
    signal,
  })
  const orderMutex = createMutex()
  const keyedLock = createKeyedLock()
  const inFlight = new Set<Promise<void>>()
  /** Whether a bulk may still be in flight, also after its retries ended. */
  let hasUnknownOutcome = false
  let fenceCount = 0

  /** Fences off what nobody knows the outcome of; between two bulks. */
  async function fenceUnknownOutcome(): Promise<void> {
    if (!hasUnknownOutcome && !lease.hasPendingTargets()) return
    hasUnknownOutcome = false
    await trackOutcome(() => lease.fence())
    fenceCount++
  }

  async function trackOutcome(send: () => Promise<void>): Promise<void> {
    try {
      await send()
    } catch (error) {
      hasUnknownOutcome = true
      throw error
    }
  }

  const sendVersionRecords = (
    heads: readonly OrderVersionRecord[],
    states: OptimisticConcurrency,
  ) => trackOutcome(() => send('heads', heads.map(versionRecordItem), states))

  /**
   * Sends the documents, unless something was fenced off since they were decided: then tells so.
   */
  const sendOrders = (
    items: readonly BulkItem[],
    states: OptimisticConcurrency,
    decidedAtFence: number,
    mode: WriteMode,
  ) =>
    orderMutex(async () => {
      await fenceUnknownOutcome()
      if (fenceCount !== decidedAtFence) return false
      if (mode === 'live' && items.length > 0) await lease.recordLiveWrites()
      await trackOutcome(() => send('orders', items, states))
      return true
    })

  /** Tells whether it is written; else it has to be decided anew. */
  async function tryWrite(decide: Decide, mode: WriteMode, locks: LockSession): Promise<boolean> {
    const decidedAtFence = fenceCount
    const states = createOptimisticConcurrency()
    const reader = createIndexReader({ client, names, states, deadlineMs })
    const { views, removals, versionRecords } = await decide({
      async versionRecords(orderIds) {
        await locks.acquire(orderIds)
        return reader.versionRecords(orderIds)
      },
      orphans: reader.orphans,
      scan: reader.scan,
      views: reader.views,
    })
    const items = [...views.map(viewItem), ...removals.map(removalItem)]
    if (!(await sendOrders(items, states, decidedAtFence, mode))) return false
    await sendVersionRecords(versionRecords, states)
    return true
  }

  /** Once a bulk is of unknown outcome it is fenced off, and decided anew on what it left. */
  async function writeWithRetry(
    decide: Decide,
    mode: WriteMode,
    locks: LockSession,
  ): Promise<void> {
    const policy = {
      deadlineMs: RETRY_DEADLINE_MS,
      activity: 'OpenSearch was unavailable',
      signal,
      onRetry: ({ message }: Error) => onDelay(`${message}; trying again`),
    }
    await retryUntilDeadline(policy, async () => {
      if (hasUnknownOutcome) await orderMutex(fenceUnknownOutcome)
      while (!(await tryWrite(decide, mode, locks))) {}
    })
  }

  /** Also while there is nothing to write: somebody waits for it. */
  function applyTargets(): void {
    orderMutex(fenceUnknownOutcome).catch(({ message }: Error) =>
      onDelay(`${message}; trying again`),
    )
  }

  return {
    bulk(decide, mode = 'back-fill') {
      const locks = keyedLock.openSession()
      const written = writeWithRetry(decide, mode, locks).finally(() => {
        locks.release()
        inFlight.delete(written)
      })
      inFlight.add(written)
      return written
    },
    hasLiveWrites: () => lease.hasLiveWrites(),
    lastWrite,
    now: () => Math.min(clock(), storeClock.now() + MAX_CLOCK_SKEW_MS),
    async close() {
      await Promise.allSettled(inFlight)
      // A reader that waited for the end of the writer finds all it wrote.
      const refresh = { index: names.orders }
      const refreshDeadlineMs = Math.min(deadlineMs, CLOSE_REFRESH_MS)
      await read(refreshDeadlineMs, (call) => client.indices.refresh(refresh, call)).catch(() => {})
      await lease.release().catch(() => {}) // Otherwise it expires.
    },
  }
}

type Decide = Parameters<OrderIndex['bulk']>[0]

const documentAddress = (view: ViewKey) => ({ _id: documentId(view), routing: view.accountId })

function viewItem(view: ViewWrite): BulkItem {
  const source = (stamp: number) => serializeDocument(renderDocument(view, stamp))
  return { orderId: view.orderId, address: documentAddress(view), source }
}

function removalItem(view: ViewKey): BulkItem {
  return { orderId: view.orderId, address: documentAddress(view) }
}

function versionRecordItem(versionRecord: OrderVersionRecord): BulkItem {
  const { orderId } = versionRecord
  return {
    orderId,
    address: { _id: orderId },
    source: () => JSON.stringify(toVersionRecordSource(versionRecord)),
  }
}
