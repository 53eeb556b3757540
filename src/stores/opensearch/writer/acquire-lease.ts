import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { WatchAtWork, type WriterPurpose } from '../../../indexing/writing/order-index.ts'
import { monotonicClock } from '../../../lib/clock.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { beginLease, isSame, type Lease, type LeaseOptions, stampAt } from './lease.ts'
import type { LeaseState } from './lease-document.ts'

export interface AcquireOptions extends LeaseOptions {
  /** The index that the first writer of all feeds. */
  firstTarget: string
  purpose: WriterPurpose
  /** The greatest stamp in the index, epoch milliseconds; asked for where no lease tells of one. */
  greatestStamp(): Promise<number>
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
    const last = await untilFree(options)
    // Where the lease was removed, stamps still may not begin below those in the index.
    const earlierCeiling = last?.record.stamp_ceiling ?? (await options.greatestStamp())
    const storeMs = await storeClock.read()
    stampAt(clock(), storeMs, earlierCeiling) // Before it is the holder: another one may be able to write.
    const taken = await document.replace(last, {
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
    if (taken !== null) return beginLease(taken, earlierCeiling, options)
  }
}

async function untilFree(options: AcquireOptions): Promise<LeaseState | null> {
  const { document, purpose, onDelay, signal } = options
  let seen = await document.read()
  let seenAt = monotonicClock()
  if (seen !== null && !seen.record.released) {
    const seconds = Math.ceil(seen.record.lease_ms / 1000)
    onDelay(
      `waiting for another writer to end (${seen.record.holder}); one that is gone has lost its lease in ${seconds} s`,
    )
  }
  while (seen !== null && !seen.record.released) {
    const { lease_ms: leaseMs } = seen.record
    if (monotonicClock() - seenAt >= leaseMs) return seen
    await pause(leaseMs / 20, undefined, { signal }).catch(interrupted)
    const now = await document.read().catch(orElse(seen))
    if (now?.state.if_seq_no !== seen.state.if_seq_no) {
      if (purpose === 'load' && isRenewedByWatch(seen, now))
        throw new WatchAtWork(now?.record.holder)
      seen = now
      seenAt = monotonicClock()
    }
  }
  return seen
}

/** Whether somebody watches, who is alive: it will not end by itself. A reindex changes targets alone. */
function isRenewedByWatch(seen: LeaseState, now: LeaseState | null): boolean {
  if (now === null || now.record.released || now.record.purpose !== 'watch') return false
  return isSame(now.record.targets, seen.record.targets)
}

/** While nobody can look, it stands as it was seen. */
function orElse(seen: LeaseState) {
  return (error: unknown): LeaseState => {
    if (!(error instanceof Unavailable)) throw error
    return seen
  }
}

function interrupted(cause: unknown): never {
  throw new Error('interrupted while another writer was at work', { cause })
}
