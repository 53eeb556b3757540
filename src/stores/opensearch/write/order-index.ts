import { MAX_CLOCK_SKEW_MS } from '../../../indexing/writer/clock-skew.ts'
import type { WriteMode } from '../../../indexing/writer/decide.ts'
import { renderDocument } from '../../../indexing/writer/order-document.ts'
import type {
  BulkWrites,
  OrderIndex,
  OrderLock,
  OrderVersionRecord,
  ViewKey,
  ViewWrite,
  WriterPurpose,
} from '../../../indexing/writer/order-index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createMutex } from '../../../lib/mutex.ts'
import { createRetryBudget, type RetryBudget } from '../../../lib/retry-until-deadline.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { type OpenSearch, read } from '../client/client.ts'
import type { EnsureIndices } from '../ensure-indices.ts'
import { concreteIndex, type IndexNames } from '../index-names.ts'
import { documentId, serializeDocument } from '../order-document.ts'
import { acquireLease } from './acquire-lease.ts'
import { type BulkItem, createBulkSender } from './bulk-sender.ts'
import { createFence } from './fence.ts'
import { createIndexReader, toVersionRecordSource } from './index-reader.ts'
import { createKeyedLock } from './keyed-lock.ts'
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
  /** For each request of a bulk, the answer's body included. */
  deadlineMs: number
  /** Epoch milliseconds. */
  clock: Clock
  purpose: WriterPurpose
  /** Told why nothing is written for a while, in words for an operator. */
  onDelay(reason: string): void
  /** Ends the waiting, for another writer and for OpenSearch. */
  signal?: AbortSignal | undefined
}

const CLOSE_REFRESH_MS = 4_000
/** Longer than a cluster takes to do without a node that says nothing any more. */
const GIVE_UP_MS = 300_000

/**
 * Becomes the writer of the index, the only one until it is closed. The documents of one bulk at a time,
 * confirmed by all copies before the next ones are stamped and sent: a copy applies them in order, and a
 * refresh shows a beginning of them, so the order of stamps is the order in which changes become visible.
 * What shows nothing to anybody need not wait: while a bulk is sent the next one is decided, and the heads
 * of the one before are written.
 * @throws Unavailable, StampsAhead; ClockAhead; Error when OpenSearch refuses, or `signal` ends the waiting
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
  /** Each resolves when its lock is released. */
  const openLocks = new Set<Promise<void>>()
  /** Whether something that was sent may still be on its way: also when its bulk was given up. */
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
    records: readonly OrderVersionRecord[],
    states: OptimisticConcurrency,
  ) => trackOutcome(() => send('heads', records.map(versionRecordItem), states))

  /** Sends the documents; `false` when a fence was raised since the transaction read them. */
  const sendOrders = (
    items: readonly BulkItem[],
    states: OptimisticConcurrency,
    readAtFence: number,
    mode: WriteMode,
  ) =>
    orderMutex(async () => {
      await fenceUnknownOutcome()
      if (fenceCount !== readAtFence) return false
      if (mode === 'live' && items.length > 0) await lease.recordLiveWrites()
      await trackOutcome(() => send('orders', items, states))
      return true
    })

  async function commit(
    { views, removals, versionRecords }: BulkWrites,
    states: OptimisticConcurrency,
    readAtFence: number,
    mode: WriteMode,
  ): Promise<boolean> {
    const items = [...views.map(viewItem), ...removals.map(removalItem)]
    if (!(await sendOrders(items, states, readAtFence, mode))) return false
    await sendVersionRecords(versionRecords, states)
    return true
  }

  /** Reads are repeated in place; a commit of unknown outcome is fenced and needs a new transaction. */
  function createOrderLock(budget: RetryBudget, release: () => void): OrderLock {
    async function repeat<T>(work: () => Promise<T>): Promise<T> {
      for (;;) {
        try {
          return await work()
        } catch (error) {
          await backOff(error)
        }
      }
    }

    async function backOff(error: unknown): Promise<void> {
      if (!(error instanceof Unavailable)) throw error
      await budget.backOff(error)
    }

    return {
      release,
      async begin() {
        await repeat(async () => {
          if (hasUnknownOutcome) await orderMutex(fenceUnknownOutcome)
        })
        const readAtFence = fenceCount
        const states = createOptimisticConcurrency()
        const reader = createIndexReader({ client, names, states, deadlineMs })
        return {
          versionRecords: (orderIds) => repeat(() => reader.versionRecords(orderIds)),
          orphans: (orderIds) => repeat(() => reader.orphans(orderIds)),
          scan: (orderIds) => repeat(() => reader.scan(orderIds)),
          views: (keys) => repeat(() => reader.views(keys)),
          async commit(writes, mode) {
            try {
              return await commit(writes, states, readAtFence, mode)
            } catch (error) {
              await backOff(error)
              return false
            }
          },
        }
      },
    }
  }

  /** Also while there is nothing to write: somebody waits for it. */
  function applyTargets(): void {
    orderMutex(fenceUnknownOutcome).catch(({ message }: Error) =>
      onDelay(`${message}; trying again`),
    )
  }

  return {
    async lock(orderIds) {
      const budget = createRetryBudget({
        deadlineMs: GIVE_UP_MS,
        activity: 'OpenSearch was unavailable for writes',
        signal,
        onRetry: ({ message }) => onDelay(`${message}; retrying`),
      })
      const session = keyedLock.openSession()
      const { promise: released, resolve } = Promise.withResolvers<void>()
      openLocks.add(released)
      await session.acquire(orderIds)
      return createOrderLock(budget, () => {
        session.release()
        openLocks.delete(released)
        resolve()
      })
    },
    hasLiveWrites: () => lease.hasLiveWrites(),
    lastWrite,
    now: () => Math.min(clock(), storeClock.now() + MAX_CLOCK_SKEW_MS),
    async close() {
      await Promise.all(openLocks)
      // Whoever waited for the writer's end finds what it wrote; else that is a second away.
      const refresh = { index: names.orders }
      const refreshDeadlineMs = Math.min(deadlineMs, CLOSE_REFRESH_MS)
      await read(refreshDeadlineMs, (call) => client.indices.refresh(refresh, call)).catch(() => {})
      await lease.release().catch(() => {}) // Then it runs out.
    },
  }
}

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
