import { setTimeout as pause } from 'node:timers/promises'
import { type Clock, monotonicClock } from '../../../lib/clock.ts'
import { isSameTargets, type LeaseRecord } from '../lease-document.ts'
import { acquireLease } from '../write/lease/acquire-lease.ts'
import type { Fence } from '../write/lease/fence.ts'
import type { LeaseOptions } from '../write/lease/lease.ts'

export interface ChangeWriteTargetsOptions extends Omit<LeaseOptions, 'onTargetsChanged'> {
  fence: Fence
  versionRecordIndex(): Promise<string>
  maxWriteTimestamp(): Promise<number>
  /** Receives the reason of a delay, in words for an operator. */
  onDelay(reason: string): void
  /** Monotonic milliseconds, for the intervals between reports of a delay. */
  waitClock?: Clock
  signal?: AbortSignal | undefined
}

/** Of both lists, the first index is read. */
export interface WriteTargets {
  orders: readonly [read: string, ...others: string[]]
  versionRecords: readonly string[]
}

const POLL_MS = 50
/** A writer reads its lease document more often. */
const LOG_AFTER_MS = 5_000
const LOG_INTERVAL_MS = 60_000

/**
 * Requests new write targets in the lease document and waits until a writer has applied them: see
 * `reindex.md`. Without an active writer, this process acquires the lease for a moment. Returns the
 * epoch of a fence that applied them.
 * @throws Error when another process changed the targets, or `signal` aborts the wait
 */
export async function changeWriteTargets(
  options: ChangeWriteTargetsOptions,
  from: WriteTargets,
  to: WriteTargets,
): Promise<number> {
  const { document, signal } = options
  for (;;) {
    const state = await document.read()
    if (state !== null && isRequested(state.record, to)) break
    if (state !== null && !isRequested(state.record, from)) throw new Error(CHANGED_MEANWHILE)
    const requested = { targets: to.orders, version_records: to.versionRecords }
    if (state === null) await becomeWriterBriefly(options, from, signal)
    else if (await document.replace(state, { ...state.record, ...requested })) break
  }
  // An attempt of this process may raise one more fence before it ends. The next one waits for a
  // writer that took over meanwhile.
  for (;;) {
    const record = (await document.read())?.record
    if (record !== undefined && isApplied(record, to)) return record.epoch
    await waitUntilApplied(options, to)
  }
}

const CHANGED_MEANWHILE =
  'another reindex changed the write targets: check "index status", then try again'

/** Returns also after an attempt of this process, which a later writer may have superseded. */
async function waitUntilApplied(
  options: ChangeWriteTargetsOptions,
  targets: WriteTargets,
): Promise<void> {
  const { document, waitClock = monotonicClock, signal } = options
  const applied = new AbortController()
  const signals = [applied.signal, ...(signal ? [signal] : [])]
  let nextLogAt = waitClock() + LOG_AFTER_MS
  let isAttempted = false
  let failure: unknown
  const ownAttempt = becomeWriterBriefly(options, targets, AbortSignal.any(signals)).then(
    () => {
      isAttempted = true
    },
    (error) => {
      if (!applied.signal.aborted) failure = error
    },
  )
  try {
    for (;;) {
      const record = (await document.read())?.record
      if (record !== undefined && isApplied(record, targets)) return
      if (record !== undefined && !isRequested(record, targets)) throw new Error(CHANGED_MEANWHILE)
      if (failure !== undefined) throw failure
      if (isAttempted) return // A writer that took over since may die before it applies them.
      if (waitClock() > nextLogAt) {
        options.onDelay(
          `waiting for the writer (${record?.holder}) to write to ${[...targets.orders, ...targets.versionRecords].join(', ')}`,
        )
        nextLogAt = waitClock() + LOG_INTERVAL_MS
      }
      await pause(POLL_MS)
    }
  } finally {
    applied.abort()
    await ownAttempt
  }
}

/**
 * A writer of an earlier release drops the list of version record indices, and writes to the first
 * one only. Then the second of two no longer receives version records.
 */
function isRequested(record: LeaseRecord, { orders, versionRecords }: WriteTargets): boolean {
  const records =
    record.version_records ?? versionRecords.slice(0, versionRecords.length === 1 ? 1 : 0)
  return isSameTargets(record.targets, orders) && isSameTargets(records, versionRecords)
}

/** A writer of an earlier release never confirms a second index of version records. */
function isApplied(record: LeaseRecord, targets: WriteTargets): boolean {
  const { orders, versionRecords } = targets
  return (
    isRequested(record, targets) &&
    isSameTargets(record.fed, orders) &&
    (versionRecords.length === 1 || isSameTargets(record.fed_version_records ?? [], versionRecords))
  )
}

/** Logs no delay, because an active writer may apply the targets first. */
async function becomeWriterBriefly(
  options: ChangeWriteTargetsOptions,
  { orders: [firstTarget] }: WriteTargets,
  signal: AbortSignal | undefined,
): Promise<void> {
  const silent = { purpose: 'reindex' as const, onDelay() {}, signal }
  const lease = await acquireLease({ ...options, ...silent, firstTarget: async () => firstTarget })
  await lease.release()
}
