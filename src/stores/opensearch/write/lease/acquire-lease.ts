import type { WriterPurpose } from '../../../../indexing/writer/order-index.ts'
import { WatchRunningError } from '../../../../indexing/writer/writer-errors.ts'
import { retryUntilDeadline } from '../../../../lib/async/retry-until-deadline.ts'
import { monotonicClock } from '../../../../lib/clock.ts'
import { isSameTargets, type LeaseState } from '../../lease-document.ts'
import { createHolderName, waitUntilFree } from '../../lease-observation.ts'
import { type Lease, type LeaseOptions, startLease } from './lease.ts'
import { writeTimestampAt } from './store-clock.ts'

export interface AcquireOptions extends LeaseOptions {
  /** The live index; used without a lease document. */
  firstTarget(): Promise<string>
  purpose: WriterPurpose
  /** The index of version records; used when the lease document names none. */
  versionRecordIndex?(): Promise<string>
  /**
   * The greatest write timestamp in the index, epoch milliseconds; used without a lease document.
   */
  maxWriteTimestamp(): Promise<number>
  /** Receives the reason of a delay, in words for an operator. */
  onDelay(reason: string): void
  /** Aborts the wait. */
  signal?: AbortSignal | undefined
}

/**
 * Another process may have created the indices just now, such as "index init": their shards start
 * within a second or two.
 */
const SHARD_START_MS = 5_000

/**
 * Becomes the writer once the lease is released, or unchanged for its whole duration on this
 * machine's monotonic clock: see `lease.md`.
 * @throws WatchRunningError for a load during a watch; Error on an abort; errors of `clock-skew.ts`
 */
export async function acquireLease(options: AcquireOptions): Promise<Lease> {
  const { document, leaseMs, purpose, clock, storeClock, signal } = options
  const holder = createHolderName()
  const policy = { deadlineMs: SHARD_START_MS, activity: 'new shards started', signal }
  for (;;) {
    const last = await retryUntilDeadline(policy, () => waitForLease(options))
    // Without a lease document, the index has the only record of earlier write timestamps.
    const earlierCeiling =
      last?.record.stamp_ceiling ?? (await retryUntilDeadline(policy, options.maxWriteTimestamp))
    const storeMs = await storeClock.read()
    // Checked before the acquisition, so that a machine with a wrong clock evicts no writer.
    writeTimestampAt(clock(), storeMs, earlierCeiling)
    const acquired = await document.replace(last, {
      epoch: (last?.record.epoch ?? 0) + 1,
      holder,
      purpose,
      released: false,
      lease_ms: leaseMs,
      stamp_ceiling: earlierCeiling,
      targets: last?.record.targets ?? [await options.firstTarget()],
      ...(await versionRecordTargets(last, options)),
      fed: [],
      stamped_live: last?.record.stamped_live ?? false,
    })
    if (acquired !== null) return startLease(acquired, earlierCeiling, options)
  }
}

async function versionRecordTargets(
  last: LeaseState | null,
  { versionRecordIndex }: AcquireOptions,
): Promise<Pick<LeaseState['record'], 'version_records'>> {
  const requested = last?.record.version_records
  if (requested !== undefined) return { version_records: requested }
  return versionRecordIndex === undefined ? {} : { version_records: [await versionRecordIndex()] }
}

function waitForLease(options: AcquireOptions): Promise<LeaseState | null> {
  const { document, purpose, onDelay, signal } = options
  return waitUntilFree({
    read: () => document.read(),
    role: 'writer',
    activity: 'another writer was at work',
    monotonic: monotonicClock,
    onDelay,
    onChange(before, now) {
      if (purpose === 'load' && isRenewedByWatch(before, now))
        throw new WatchRunningError(now?.record.holder)
    },
    signal,
  })
}

/** Whether a live watch renewed the lease. Only a reindex changes the targets alone. */
function isRenewedByWatch(before: LeaseState, now: LeaseState | null): boolean {
  if (now === null || now.record.released || now.record.purpose !== 'watch') return false
  return isSameTargets(now.record.targets, before.record.targets)
}
