import { setInterval } from 'node:timers/promises'
import { MAX_CLOCK_SKEW_MS, nextWriteTimestamp } from '../../../indexing/writer/clock-skew.ts'
import { LeaseLostError } from '../../../indexing/writer/order-index.ts'
import { type Clock, monotonicClock } from '../../../lib/clock.ts'
import { createMutex } from '../../../lib/mutex.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import type { Fence } from './fence.ts'
import {
  headroomMs,
  isSameTargets,
  type LeaseDocument,
  type LeaseRecord,
  type LeaseState,
} from './lease-document.ts'
import type { StoreClock } from './store-clock.ts'

/** The right to write, held. Once it is lost every call throws {@link LeaseLostError}. */
export interface Lease {
  /** Names what this writer may write to; another one after every {@link fence}. */
  epoch(): number
  /** The indices that every bulk of this epoch goes to; the first is the one that is read. */
  writeTargets(): readonly string[]
  /** Whether other indices are to be fed: then only {@link fence} leads to the next stamp. */
  hasPendingTargets(): boolean
  /**
   * The stamp of a bulk that is sent now: epoch milliseconds, above every stamp given before it by this
   * writer or any earlier one, and at most `MAX_AHEAD_MS` ahead of the store's clock.
   * @throws Unavailable when other indices are to be fed; ClockAhead; StampsAhead
   */
  nextWriteTimestamp(): Promise<number>
  /** Whether this writer or any earlier one sent a bulk in live mode. */
  hasLiveWrites(): boolean
  /** Records that one is sent; once it returns, every later writer knows it. */
  recordLiveWrites(): Promise<void>
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
  onTargetsChanged?(): void
}

/**
 * Begins the tenure of the writer that just became the holder in `taken`. A stamp is never above the
 * ceiling that the document confirmed, and a successor starts above that ceiling: so it needs no clock
 * in common with its predecessor, nor anything that is in the index.
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
  /** What the document confirmed: a state that was only read may be gone with its node. */
  let ceiling = earlierCeiling
  /** What the fence was raised for last; `null` before that. */
  let writeTargets: readonly string[] | null = null
  let isLost = false
  let isReleasing = false

  /** Bounded by the store's clock too: a ceiling outlives the writer, whose clock may be wrong. */
  const nextCeiling = () =>
    Math.floor(
      Math.min(Math.max(lastWriteTimestamp, clock()), storeClock.now() + MAX_CLOCK_SKEW_MS),
    ) + headroomMs(leaseMs)

  /** Writes the record anew, as the holder that it still names. */
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
      // Either an attempt of our own arrived after all, or somebody took over.
      const now = await document.read()
      if (now?.record.holder !== current.record.holder) isLost = true
      else current = now
    }
  }

  /** Renewed while it waits: what is fenced off may take longer than a lease. */
  async function raiseFence(): Promise<void> {
    do {
      const { targets } = current.record
      await fence.raise(current.record)
      // A writer that slept before it swapped the aliases finds out here, before it writes.
      await mutex(() => renew({ fed: targets }))
      writeTargets = targets
    } while (hasPendingTargets())
  }

  const hasPendingTargets = () =>
    writeTargets !== null && !isSameTargets(writeTargets, current.record.targets)

  /** What seems to be too far ahead may be a reading grown old, as after the machine slept: read it anew. */
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
      storeClock.read().catch(() => {}) // Not awaited: the lease must not wait for it.
      await mutex(() => renew()).catch(() => {}) // Whoever wants to write is told.
      if (!isLost && hasPendingTargets()) onTargetsChanged()
    }
  }
  renewPeriodically().catch(() => {}) // It ends by being aborted.

  const lease: Lease = {
    epoch: () => current.record.epoch,
    writeTargets: () => writeTargets ?? [],
    hasPendingTargets,
    async nextWriteTimestamp() {
      for (let renewals = 0; ; renewals++) {
        if (isReleasing) throw new LeaseLostError()
        if (hasPendingTargets()) throw new Unavailable('other indices are to be fed')
        const candidate = await dueWriteTimestamp()
        // While a new ceiling is confirmed the clock may run past it, and past the next one too.
        const writeTimestamp = renewals > 0 ? Math.min(candidate, ceiling) : candidate
        const isHeld = !isLost && monotonicClock() - confirmedAt < leaseMs
        if (isHeld && writeTimestamp <= ceiling) {
          lastWriteTimestamp = writeTimestamp
          return writeTimestamp
        }
        await mutex(() => renew())
      }
    },
    hasLiveWrites: () => current.record.stamped_live,
    async recordLiveWrites() {
      if (!current.record.stamped_live) await mutex(() => renew({ stamped_live: true }))
    },
    async fence() {
      await mutex(() => renew({ epoch: current.record.epoch + 1 }))
      await raiseFence()
    },
    async release() {
      renewal.abort()
      isReleasing = true
      if (isLost) return
      await mutex(() => renew({ released: true, stamp_ceiling: lastWriteTimestamp })).finally(
        () => {
          isLost = true // Whatever became of it, nothing more is stamped.
        },
      )
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

/** @throws ClockAhead, StampsAhead */
export function writeTimestampAt(
  clockMs: number,
  storeMs: number,
  lastWriteTimestamp: number,
): number {
  const store = { nowMs: storeMs, name: 'the clock of OpenSearch' }
  return nextWriteTimestamp(store, clockMs, lastWriteTimestamp, REMEDY)
}

const REMEDY = 'Set the clock of the machine right (NTP), then start again'
