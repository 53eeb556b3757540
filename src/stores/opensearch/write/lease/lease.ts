import { setInterval } from 'node:timers/promises'
import { MAX_CLOCK_SKEW_MS } from '../../../../indexing/writer/clock-skew.ts'
import { LeaseLostError } from '../../../../indexing/writer/writer-errors.ts'
import { createMutex } from '../../../../lib/async/mutex.ts'
import { retryUntilDeadline } from '../../../../lib/async/retry-until-deadline.ts'
import { withDeadline } from '../../../../lib/async/with-deadline.ts'
import { type Clock, monotonicClock } from '../../../../lib/clock.ts'
import { Unavailable } from '../../../../lib/errors/unavailable.ts'
import {
  headroomMs,
  isSameTargets,
  type LeaseDocument,
  type LeaseRecord,
  type LeaseState,
} from '../../lease-document.ts'
import type { Fence } from './fence.ts'
import { type StoreClock, writeTimestampAt } from './store-clock.ts'

/** A held lease: see `lease.md`. After its loss every call throws {@link LeaseLostError}. */
export interface Lease {
  /** Part of the write aliases; increases with every {@link fence}. */
  epoch(): number
  /** The indices that receive every bulk of this epoch; the first is the live index. */
  writeTargets(): readonly string[]
  /** The indices of version records of this epoch; the first is read. None in earlier releases. */
  versionRecordTargets(): readonly string[]
  /**
   * Whether the requested targets are not applied: then {@link fence} must precede the next write
   * timestamp.
   */
  hasPendingTargets(): boolean
  /**
   * The write timestamp of a bulk that is sent now, epoch milliseconds. It exceeds every earlier
   * one of any writer, and is at most `MAX_CLOCK_SKEW_MS` ahead of the cluster's clock.
   * @throws Unavailable when the write targets must change first; an error of `clock-skew.ts`
   */
  nextWriteTimestamp(): Promise<number>
  /** No document of any writer has a later write timestamp now, epoch milliseconds. */
  lastWriteTimestamp(): number
  /** Whether any writer sent a bulk in live mode. */
  hasLiveWrites(): boolean
  /** Records in the lease document that this writer sends bulks in live mode. */
  recordLiveWrites(): Promise<void>
  /** Fences off this writer's own bulks of unknown outcome, and applies the requested targets. */
  fence(): Promise<void>
  /** Releases the lease, so that the next writer need not wait for its expiry. */
  release(): Promise<void>
}

export interface LeaseOptions {
  document: LeaseDocument
  fence: Fence
  leaseMs: number
  /** Epoch milliseconds. */
  clock: Clock
  /** Has a reading from before the acquisition. */
  storeClock: StoreClock
  /** Called after each renewal while the requested targets are not applied. */
  onTargetsChanged?(): void
}

/** Repeated, because the next writer waits for a whole lease without a release. */
const RELEASE_POLICY = { deadlineMs: 2_000, activity: 'releasing the writer lease' }
/** Within a graceful shutdown. */
const MAX_RELEASE_MS = 10_000

/**
 * Starts the tenure of the writer that became holder in `acquired`: fence, then periodic renewal.
 */
export async function startLease(
  acquired: LeaseState,
  earlierCeiling: number,
  options: LeaseOptions,
): Promise<Lease> {
  const { document, fence, leaseMs, clock, storeClock, onTargetsChanged = () => {} } = options
  const mutex = createMutex()
  let current = acquired
  let confirmedAt = monotonicClock()
  let lastWriteTimestamp = earlierCeiling
  /** The last confirmed ceiling. One that was only read can disappear with its node. */
  let ceiling = earlierCeiling
  /** The targets of the last fence; `null` before the first. */
  let writeTargets: readonly string[] | null = null
  let versionRecordTargets: readonly string[] = []
  let isLost = false
  let isReleasing = false

  /** Limited by the cluster's clock, because the ceiling outlives a writer with a wrong clock. */
  const nextCeiling = () =>
    Math.floor(
      Math.min(Math.max(lastWriteTimestamp, clock()), storeClock.now() + MAX_CLOCK_SKEW_MS),
    ) + headroomMs(leaseMs)

  /** Renews the record. @throws LeaseLostError when it names another holder */
  async function renew(changes: Partial<LeaseRecord> = {}): Promise<void> {
    for (;;) {
      if (isLost) throw new LeaseLostError()
      const startedAt = monotonicClock()
      const stamp_ceiling = Math.max(current.record.stamp_ceiling, nextCeiling())
      const next = { ...current.record, stamp_ceiling, ...changes }
      const replaced = await document.replace(current, next)
      if (replaced !== null) {
        current = replaced
        ceiling = next.stamp_ceiling
        confirmedAt = startedAt
        return
      }
      // Either an earlier attempt succeeded after its timeout, or another writer took over.
      const now = await document.read()
      if (now?.record.holder !== current.record.holder) isLost = true
      else current = now
    }
  }

  /** The periodic renewal continues meanwhile: the fence may last longer than a lease. */
  async function raiseFence(): Promise<void> {
    do {
      let raised = current.record
      while (!(await fence.raise(raised))) {
        await mutex(() => renew({ epoch: current.record.epoch + 1, fed: [] }))
        raised = current.record
      }
      const { targets, version_records } = raised
      const records = version_records && { fed_version_records: version_records }
      // A writer that froze before the alias swap detects its loss here, before it writes.
      await mutex(() => renew({ fed: targets, ...records }))
      writeTargets = targets
      versionRecordTargets = version_records ?? []
    } while (hasPendingTargets())
  }

  /** Those of the last fence are not applied either once a later one has failed. */
  const hasPendingTargets = () =>
    writeTargets !== null &&
    !(
      isSameTargets(writeTargets, current.record.targets) &&
      isSameTargets(writeTargets, current.record.fed) &&
      isSameTargets(versionRecordTargets, current.record.version_records ?? [])
    )

  /** Reads the cluster's clock again on a failure: after a suspend the last reading is stale. */
  async function dueWriteTimestamp(): Promise<number> {
    try {
      return writeTimestampAt(clock(), storeClock.now(), lastWriteTimestamp)
    } catch {
      const storeMs = await storeClock.read()
      return writeTimestampAt(clock(), storeMs, lastWriteTimestamp)
    }
  }

  const renewal = new AbortController()
  async function renewPeriodically(): Promise<void> {
    for await (const _ of setInterval(leaseMs / 3, undefined, {
      ref: false,
      signal: renewal.signal,
    })) {
      storeClock.read().catch(() => {}) // Not awaited: a slow node must not delay the renewal.
      await mutex(() => renew()).catch(() => {}) // The next write timestamp reports it.
      if (!isLost && hasPendingTargets()) onTargetsChanged()
    }
  }
  renewPeriodically().catch(() => {}) // release() aborts it.

  const lease: Lease = {
    epoch: () => current.record.epoch,
    writeTargets: () => writeTargets ?? [],
    versionRecordTargets: () => versionRecordTargets,
    hasPendingTargets,
    async nextWriteTimestamp() {
      for (let renewals = 0; ; renewals++) {
        if (isReleasing) throw new LeaseLostError()
        if (hasPendingTargets())
          throw new Unavailable(
            'a reindex changed the write targets: the fence must be raised first',
          )
        const candidate = await dueWriteTimestamp()
        // The clock may pass the new ceiling, and the next one, while it is confirmed.
        const writeTimestamp = renewals > 0 ? Math.min(candidate, ceiling) : candidate
        const isHeld = !isLost && monotonicClock() - confirmedAt < leaseMs
        if (isHeld && writeTimestamp <= ceiling) {
          lastWriteTimestamp = writeTimestamp
          return writeTimestamp
        }
        await mutex(() => renew())
      }
    },
    lastWriteTimestamp: () => lastWriteTimestamp,
    hasLiveWrites: () => current.record.stamped_live,
    async recordLiveWrites() {
      if (!current.record.stamped_live) await mutex(() => renew({ stamped_live: true }))
    },
    async fence() {
      // Not confirmed until the fence is raised: a reindex reads through the aliases of its epoch.
      await mutex(() => renew({ epoch: current.record.epoch + 1, fed: [] }))
      await raiseFence()
    },
    async release() {
      renewal.abort()
      isReleasing = true
      if (isLost) return
      const release = () => renew({ released: true, stamp_ceiling: lastWriteTimestamp })
      const repeated = () => retryUntilDeadline(RELEASE_POLICY, () => mutex(release))
      const tooLate = () => new Unavailable('OpenSearch did not confirm the release of the lease')
      await withDeadline(repeated, MAX_RELEASE_MS, tooLate).finally(() => {
        isLost = true // Also after a failure no write timestamp is issued.
      })
    },
  }

  try {
    await raiseFence()
    return lease
  } catch (error) {
    await lease.release().catch(() => {}) // Otherwise it expires.
    throw error
  }
}
