import { MAX_CLOCK_SKEW_MS } from '../../../indexing/writer/clock-skew.ts'
import type {
  FindSubscribers,
  OrderIndex,
  OrderLock,
  WriterPurpose,
} from '../../../indexing/writer/order-index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createKeyedLock } from '../../../lib/keyed-lock.ts'
import { createRetryBudget, type RetryBudget } from '../../../lib/retry-until-deadline.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { type OpenSearch, read } from '../client/client.ts'
import { refreshIndices } from '../client/shards.ts'
import type { EnsureIndices } from '../indices/ensure-indices.ts'
import { concreteIndex, type IndexNames } from '../indices/index-names.ts'
import { readVersionRecordIndex } from '../indices/version-record-index.ts'
import { acquireLease } from './acquire-lease.ts'
import { createBulkSender } from './bulk-sender.ts'
import { createCommitter } from './committer.ts'
import { createFence } from './fence.ts'
import { createIndexReader } from './index-reader.ts'
import { leaseDocument } from './lease-document.ts'
import { createOptimisticConcurrency } from './optimistic-concurrency.ts'
import { createStoreClock } from './store-clock.ts'
import { readMaxWriteTimestamp } from './write-timestamps.ts'

export interface OpenSearchOrderIndexOptions {
  client: OpenSearch
  names: IndexNames
  ensureIndices: Pick<EnsureIndices, 'orders'>
  subscribers: FindSubscribers
  leaseMs: number
  /** For each request, including the response body. */
  deadlineMs: number
  /** Epoch milliseconds. */
  clock: Clock
  purpose: WriterPurpose
  /** Called with the reason of a delay, in words for an operator. */
  onDelay(reason: string): void
  /** Ends the wait for another writer and for OpenSearch. */
  signal?: AbortSignal | undefined
}

const CLOSE_REFRESH_MS = 4_000
/** Longer than a cluster needs to remove an unresponsive node. */
const GIVE_UP_MS = 300_000

/**
 * Becomes the sole writer of the index until it is closed. Every shard copy confirms the documents
 * of a bulk before the next bulk gets its write timestamp. A copy applies them in sequence, and a
 * refresh shows a prefix of them. So changes become visible in the order of their write timestamps.
 * While one bulk is sent, the next is decided and the version records of the previous one are
 * written.
 * @throws Unavailable, TimestampsAheadError, ClockSkewError; Error when OpenSearch rejects a
 * request, or `signal` aborts the wait
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
    versionRecordIndex: () => readVersionRecordIndex(client, names, deadlineMs),
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
  const { fence, fenceBeforeReads, commit } = createCommitter({ lease, send })
  const keyedLock = createKeyedLock()
  /** Each resolves when its lock is released. */
  const openLocks = new Set<Promise<void>>()

  /**
   * Reads are repeated in place; a commit of unknown outcome is fenced and needs a new transaction.
   */
  function createOrderLock(release: () => void): OrderLock {
    let budget = createBudget()

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
        const readAtFence = await repeat(fenceBeforeReads)
        const states = createOptimisticConcurrency()
        const reader = createIndexReader({ client, names, states, deadlineMs })
        return {
          versionRecords: (orderIds) => repeat(() => reader.versionRecords(orderIds)),
          orphans: (orderIds) => repeat(() => reader.orphans(orderIds)),
          scan: (orderIds) => repeat(() => reader.scan(orderIds)),
          views: (keys) => repeat(() => reader.views(keys)),
          eventRecords: (keys) => repeat(() => reader.eventRecords(keys)),
          subscribers: () => repeat(options.subscribers),
          async commit(writes, mode) {
            try {
              const isCommitted = await commit(writes, states, readAtFence, mode)
              budget = createBudget() // A lock may be held for many bulks.
              return isCommitted
            } catch (error) {
              await backOff(error)
              return false
            }
          },
        }
      },
    }
  }

  function createBudget(): RetryBudget {
    return createRetryBudget({
      deadlineMs: GIVE_UP_MS,
      activity: 'OpenSearch was unavailable for writes',
      signal,
      onRetry: ({ message }) => onDelay(`${message}; trying again`),
    })
  }

  /** Without waiting for the next write, since a reindex waits for the new targets. */
  function applyTargets(): void {
    fence().catch(({ message }: Error) => onDelay(`${message}; trying again`))
  }

  return {
    async lock(orderIds) {
      const session = keyedLock.openSession()
      const { promise: released, resolve } = Promise.withResolvers<void>()
      openLocks.add(released)
      await session.acquire(orderIds)
      return createOrderLock(() => {
        session.release()
        openLocks.delete(released)
        resolve()
      })
    },
    hasLiveWrites: () => lease.hasLiveWrites(),
    lastWrite,
    refresh: () => refreshIndices(client, deadlineMs, [names.orders]),
    now: () => Math.min(clock(), storeClock.now() + MAX_CLOCK_SKEW_MS),
    async close() {
      await Promise.all(openLocks)
      // Makes the last writes searchable at once instead of a second later.
      const refresh = { index: names.orders }
      const refreshDeadlineMs = Math.min(deadlineMs, CLOSE_REFRESH_MS)
      await read(refreshDeadlineMs, (call) => client.indices.refresh(refresh, call)).catch(() => {})
      await lease.release().catch(() => {}) // Without a release it expires.
    },
  }
}
