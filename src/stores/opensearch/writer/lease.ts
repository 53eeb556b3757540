import { setInterval } from 'node:timers/promises'
import { LeaseLost } from '../../../indexing/writing/order-index.ts'
import { MAX_AHEAD_MS, nextStampWithin } from '../../../indexing/writing/stamp-limit.ts'
import { type Clock, monotonicClock } from '../../../lib/clock.ts'
import { createQueue } from '../../../lib/queue.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import type { Fence } from './fence.ts'
import type { LeaseDocument, LeaseRecord, LeaseState } from './lease-document.ts'
import type { StoreClock } from './store-clock.ts'

/** The right to write, held. Once it is lost every call throws {@link LeaseLost}. */
export interface Lease {
  /** Names what this writer may write to; another one after every {@link fence}. */
  epoch(): number
  /** The indices that every bulk of this epoch goes to; the first is the one that is read. */
  targets(): readonly string[]
  /** Whether other indices are to be fed: then only {@link fence} leads to the next stamp. */
  isRetargeted(): boolean
  /**
   * The stamp of a bulk that is sent now: epoch milliseconds, above every stamp given before it by this
   * writer or any earlier one, and at most `MAX_AHEAD_MS` ahead of the store's clock.
   * @throws Unavailable when other indices are to be fed; ClockAhead; StampsAhead
   */
  nextStamp(): Promise<number>
  /** Whether this writer or any earlier one sent a bulk in live mode. */
  wasStampedLive(): boolean
  /** Records that one is sent; once it returns, every later writer knows it. */
  recordStampedLive(): Promise<void>
  /** Fences off what this writer sent itself and has no answer to, and feeds what is to be fed. */
  fence(): Promise<void>
  /** Hands it back; the next writer need not wait for its end. */
  release(): Promise<void>
}

export interface LeaseOptions {
  document: LeaseDocument
  fence: Fence
  leaseMs: number
  /** Epoch milliseconds. */
  clock: Clock
  /** Was read when the lease was taken. */
  storeClock: StoreClock
  /** Told, as long as it is so, that other indices are to be fed; also while nothing is written. */
  onRetargeted?(): void
}

/**
 * Begins the tenure of the writer that just became the holder in `taken`. A stamp is never above the
 * ceiling that the document confirmed, and a successor starts above that ceiling: so it needs no clock
 * in common with its predecessor, nor anything that is in the index.
 */
export async function beginLease(
  taken: LeaseState,
  earlierCeiling: number,
  options: LeaseOptions,
): Promise<Lease> {
  const { document, fence, leaseMs, clock, storeClock, onRetargeted = () => {} } = options
  const oneAtATime = createQueue()
  let held = taken
  let confirmedAt = monotonicClock()
  let lastStamp = earlierCeiling
  /** What the document confirmed: a state that was only read may be gone with its node. */
  let ceiling = earlierCeiling
  /** What the fence was raised for last; `null` before that. */
  let fed: readonly string[] | null = null
  let isLost = false
  let isEnding = false

  /** Bounded by the store's clock too: a ceiling outlives the writer, whose clock may be wrong. */
  const ceilingAhead = () =>
    Math.floor(Math.min(Math.max(lastStamp, clock()), storeClock.now() + MAX_AHEAD_MS)) +
    headroomMs(leaseMs)

  /** Writes the record anew, as the holder that it still names. */
  async function confirm(changes: Partial<LeaseRecord> = {}): Promise<void> {
    for (;;) {
      if (isLost) throw new LeaseLost()
      const startedAt = monotonicClock()
      const stamp_ceiling = Math.max(held.record.stamp_ceiling, ceilingAhead())
      const next = { ...held.record, stamp_ceiling, ...changes }
      const replaced = await document.replace(held, next)
      if (replaced !== null) {
        held = replaced
        ceiling = next.stamp_ceiling
        confirmedAt = startedAt
        return
      }
      // Either an attempt of our own arrived after all, or somebody took over.
      const now = await document.read()
      if (now?.record.holder !== held.record.holder) isLost = true
      else held = now
    }
  }

  /** Renewed while it waits: what is fenced off may take longer than a lease. */
  async function raiseFence(): Promise<void> {
    do {
      const { targets } = held.record
      await fence.raise(held.record)
      // A writer that slept before it swapped the aliases finds out here, before it writes.
      await oneAtATime(() => confirm({ fed: targets }))
      fed = targets
    } while (isRetargeted())
  }

  const isRetargeted = () => fed !== null && !isSame(fed, held.record.targets)

  /** What seems to be too far ahead may be a reading grown old, as after the machine slept: read it anew. */
  async function stampDue(): Promise<number> {
    try {
      return stampAt(clock(), storeClock.now(), lastStamp)
    } catch {
      const storeMs = await storeClock.read()
      return stampAt(clock(), storeMs, lastStamp)
    }
  }

  const renewal = new AbortController()
  async function keepRenewing(): Promise<void> {
    for await (const _ of setInterval(leaseMs / 3, undefined, {
      ref: false,
      signal: renewal.signal,
    })) {
      storeClock.read().catch(() => {}) // Not awaited: the lease must not wait for it.
      await oneAtATime(() => confirm()).catch(() => {}) // Whoever wants to write is told.
      if (!isLost && isRetargeted()) onRetargeted()
    }
  }
  keepRenewing().catch(() => {}) // It ends by being aborted.

  const lease: Lease = {
    epoch: () => held.record.epoch,
    targets: () => fed ?? [],
    isRetargeted,
    async nextStamp() {
      for (let confirmations = 0; ; confirmations++) {
        if (isEnding) throw new LeaseLost()
        if (isRetargeted()) throw new Unavailable('other indices are to be fed')
        const due = await stampDue()
        // While a new ceiling is confirmed the clock may run past it, and past the next one too.
        const stamp = confirmations > 0 ? Math.min(due, ceiling) : due
        const isHeld = !isLost && monotonicClock() - confirmedAt < leaseMs
        if (isHeld && stamp <= ceiling) {
          lastStamp = stamp
          return stamp
        }
        await oneAtATime(() => confirm())
      }
    },
    wasStampedLive: () => held.record.stamped_live,
    async recordStampedLive() {
      if (!held.record.stamped_live) await oneAtATime(() => confirm({ stamped_live: true }))
    },
    async fence() {
      await oneAtATime(() => confirm({ epoch: held.record.epoch + 1 }))
      await raiseFence()
    },
    async release() {
      renewal.abort()
      isEnding = true
      if (isLost) return
      await oneAtATime(() => confirm({ released: true, stamp_ceiling: lastStamp })).finally(() => {
        isLost = true // Whatever became of it, nothing more is stamped.
      })
    },
  }

  try {
    await raiseFence()
    return lease
  } catch (error) {
    await lease.release().catch(() => {}) // Then it runs out by itself.
    throw error
  }
}

/** How far a ceiling is ahead of what may be stamped when it is confirmed. */
const headroomMs = (leaseMs: number) => Math.ceil(leaseMs / 2)

/** What was stamped at most, by the record: of a lease that is held, when it was last confirmed. */
export function stampedUpTo({ released, stamp_ceiling, lease_ms }: LeaseRecord): number {
  return released ? stamp_ceiling : stamp_ceiling - headroomMs(lease_ms)
}

/** @throws ClockAhead, StampsAhead */
export function stampAt(clockMs: number, storeMs: number, lastStamp: number): number {
  const store = { nowMs: storeMs, name: 'the clock of OpenSearch' }
  return nextStampWithin(store, clockMs, lastStamp, MEND)
}

const MEND = 'Set the clock of the machine right (NTP), then start again'

/** Whether these are the same indices, in the same order. */
export function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one, at) => one === others[at])
}
