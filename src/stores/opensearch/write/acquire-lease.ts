import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { WatchRunningError, type WriterPurpose } from '../../../indexing/writer/order-index.ts'
import { monotonicClock } from '../../../lib/clock.ts'
import { interruptiblePause } from '../../../lib/interruptible-pause.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { type Lease, type LeaseOptions, startLease, writeTimestampAt } from './lease.ts'
import { isSameTargets, type LeaseState } from './lease-document.ts'

export interface AcquireOptions extends LeaseOptions {
  /** The index that the first writer of all feeds. */
  firstTarget: string
  purpose: WriterPurpose
  /** The greatest stamp in the index, epoch milliseconds; asked for where no lease tells of one. */
  maxWriteTimestamp(): Promise<number>
  /** Told what is waited for. */
  onDelay(reason: string): void
  /** Ends the waiting. */
  signal?: AbortSignal | undefined
}

/**
 * Becomes the writer: once the last one handed the lease back, or after a whole lease in which nobody
 * renewed it, on this machine's monotonic clock.
 * @throws ClockAhead, StampsAhead; Error when `signal` ends the waiting, or for a load when a watch is at work
 */
export async function acquireLease(options: AcquireOptions): Promise<Lease> {
  const { document, leaseMs, firstTarget, purpose, clock, storeClock } = options
  const holder = `${hostname()} ${process.pid} ${randomBytes(4).toString('hex')}`
  for (;;) {
    const last = await waitUntilFree(options)
    // Where the lease was removed, stamps still may not begin below those in the index.
    const earlierCeiling = last?.record.stamp_ceiling ?? (await options.maxWriteTimestamp())
    const storeMs = await storeClock.read()
    writeTimestampAt(clock(), storeMs, earlierCeiling) // Before it is the holder: another one may be able to write.
    const acquired = await document.replace(last, {
      epoch: (last?.record.epoch ?? 0) + 1,
      holder,
      purpose,
      released: false,
      lease_ms: leaseMs,
      stamp_ceiling: earlierCeiling,
      targets: last?.record.targets ?? [firstTarget],
      fed: [],
      stamped_live: last?.record.stamped_live ?? false,
    })
    if (acquired !== null) return startLease(acquired, earlierCeiling, options)
  }
}

async function waitUntilFree(options: AcquireOptions): Promise<LeaseState | null> {
  const { document, purpose, onDelay, signal } = options
  let observed = await document.read()
  let observedAt = monotonicClock()
  if (observed !== null && !observed.record.released) {
    const seconds = Math.ceil(observed.record.lease_ms / 1000)
    onDelay(
      `waiting for another writer to end (${observed.record.holder}); one that is gone has lost its lease in ${seconds} s`,
    )
  }
  while (observed !== null && !observed.record.released) {
    const { lease_ms: leaseMs } = observed.record
    if (monotonicClock() - observedAt >= leaseMs) return observed
    await interruptiblePause(leaseMs / 20, signal, 'another writer was at work')
    const now = await document.read().catch(keepIfUnavailable(observed))
    if (now?.state.if_seq_no !== observed.state.if_seq_no) {
      if (purpose === 'load' && isRenewedByWatch(observed, now))
        throw new WatchRunningError(now?.record.holder)
      observed = now
      observedAt = monotonicClock()
    }
  }
  return observed
}

/** Whether somebody watches, who is alive: it will not end by itself. A reindex changes targets alone. */
function isRenewedByWatch(observed: LeaseState, now: LeaseState | null): boolean {
  if (now === null || now.record.released || now.record.purpose !== 'watch') return false
  return isSameTargets(now.record.targets, observed.record.targets)
}

/** While nobody can look, it stands as it was seen. */
function keepIfUnavailable(observed: LeaseState) {
  return (error: unknown): LeaseState => {
    if (!(error instanceof Unavailable)) throw error
    return observed
  }
}
