import { MAX_CLOCK_SKEW_MS } from '../../../indexing/writer/clock-skew.ts'
import type {
  FindSubscribers,
  OrderIndex,
  WriterPurpose,
} from '../../../indexing/writer/order-index.ts'
import { createKeyedLock } from '../../../lib/async/keyed-lock.ts'
import type { Clock } from '../../../lib/clock.ts'
import { type OpenSearch, read } from '../client/client.ts'
import { refreshIndices } from '../client/shards.ts'
import type { EnsureIndices } from '../indices/ensure-indices.ts'
import type { IndexNames } from '../indices/index-names.ts'
import { readLiveVersion } from '../indices/live-version.ts'
import { readVersionRecordIndex } from '../indices/version-record-index.ts'
import { leaseDocument } from '../lease-document.ts'
import { createBulkSender } from './bulk-sender.ts'
import { createCommitter } from './committer.ts'
import { acquireLease } from './lease/acquire-lease.ts'
import { createFence } from './lease/fence.ts'
import { createStoreClock } from './lease/store-clock.ts'
import { readMaxWriteTimestamp } from './lease/write-timestamps.ts'
import { createReadTargets } from './read-targets.ts'
import { createTransactions } from './transactions.ts'
import { createWrittenStates } from './written-states.ts'

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
  /** Receives the reason of a delay, in words for an operator. */
  onDelay(reason: string): void
  /** Ends the wait for another writer and for OpenSearch. */
  signal?: AbortSignal | undefined
}

const CLOSE_REFRESH_MS = 4_000

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
    firstTarget: () => readLiveVersion(client, names, deadlineMs),
    versionRecordIndex: () => readVersionRecordIndex(client, names, deadlineMs),
    purpose,
    onTargetsChanged: () => applyTargets(),
    onDelay,
    signal,
  })
  const written = createWrittenStates()
  const { send, lastWrite } = createBulkSender({
    client,
    names,
    lease,
    written,
    deadlineMs,
    onDelay,
    signal,
  })
  const committer = createCommitter({ lease, written, send })
  const targets = createReadTargets(lease, names)
  const keyedLock = createKeyedLock()
  /** Each resolves when its lock is released. */
  const openLocks = new Set<Promise<void>>()

  let isApplying = false

  /**
   * Without waiting for the next write, since a reindex waits for the new targets. One at a time: a
   * fence may fail more slowly than the lease is renewed, and a bulk waits for all that are queued.
   */
  function applyTargets(): void {
    if (isApplying) return
    isApplying = true
    committer
      .fence()
      .catch(({ message }: Error) => onDelay(`${message}; retrying`))
      .finally(() => {
        isApplying = false
      })
  }

  return {
    async lock(orderIds) {
      const session = keyedLock.openSession()
      const { promise: released, resolve } = Promise.withResolvers<void>()
      openLocks.add(released)
      await session.acquire(orderIds)
      return {
        ...createTransactions({ ...options, committer, targets, written }),
        release() {
          session.release()
          openLocks.delete(released)
          resolve()
        },
      }
    },
    hasLiveWrites: () => lease.hasLiveWrites(),
    lastWrite,
    refresh: () => refreshIndices(client, deadlineMs, [names.orders]),
    now: () => Math.floor(Math.min(clock(), storeClock.now() + MAX_CLOCK_SKEW_MS)),
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
