import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { monotonicClock } from '../../../lib/clock.ts'
import { beginLease, type Lease, type LeaseOptions } from './lease.ts'
import type { LeaseDocument, LeaseState } from './lease-document.ts'

/** Another writer is alive, and there is one at a time. */
export class LeaseHeld extends Error {
  constructor(holder: string) {
    super(
      `another writer is at work (${holder}), and there is one at a time: wait until it ends, or stop it`,
    )
    this.name = 'LeaseHeld'
  }
}

export interface AcquireOptions extends LeaseOptions {
  /** The index that the first writer of all feeds. */
  firstTarget: string
  /** Told when the lease of a writer that is gone has to run out first. */
  onDelay(reason: string): void
}

/**
 * Becomes the writer: at once when the last one handed the lease back, or after a whole lease in which
 * nobody renewed it, on this machine's monotonic clock.
 * @throws LeaseHeld when its holder renews it
 */
export async function acquireLease(options: AcquireOptions): Promise<Lease> {
  const { document, leaseMs, firstTarget } = options
  const last = await untilFree(options)
  const earlierCeiling = last?.record.stamp_ceiling ?? 0
  const record = {
    epoch: (last?.record.epoch ?? 0) + 1,
    holder: `${hostname()} ${process.pid} ${randomBytes(4).toString('hex')}`,
    released: false,
    lease_ms: leaseMs,
    stamp_ceiling: earlierCeiling,
    targets: last?.record.targets ?? [firstTarget],
  }
  const taken = await document.replace(last, record)
  if (taken === null) throw new LeaseHeld(await holderOf(document))
  return beginLease(taken, earlierCeiling, options)
}

async function untilFree({ document, onDelay }: AcquireOptions): Promise<LeaseState | null> {
  const seen = await document.read()
  if (seen === null || seen.record.released) return seen
  const { holder, lease_ms: leaseMs } = seen.record
  const seenAt = monotonicClock()
  const seconds = Math.ceil(leaseMs / 1000)
  onDelay(`waiting up to ${seconds} s for the lease of a writer that may be gone (${holder})`)
  while (monotonicClock() - seenAt < leaseMs) {
    await pause(leaseMs / 20)
    const now = await document.read()
    if (now === null || now.record.released) return now
    if (now.state.if_seq_no !== seen.state.if_seq_no) throw new LeaseHeld(now.record.holder)
  }
  return seen
}

async function holderOf(document: LeaseDocument): Promise<string> {
  return (await document.read())?.record.holder ?? 'unknown'
}
