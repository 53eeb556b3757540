import { setTimeout as pause } from 'node:timers/promises'
import { monotonicClock } from '../../../lib/clock.ts'
import { acquireLease } from '../write/acquire-lease.ts'
import type { Fence } from '../write/fence.ts'
import type { LeaseOptions } from '../write/lease.ts'
import { isSameTargets, type LeaseRecord } from '../write/lease-document.ts'

export interface ChangeWriteTargetsOptions extends Omit<LeaseOptions, 'onTargetsChanged'> {
  fence: Fence
  maxWriteTimestamp(): Promise<number>
  /** Told what is waited for. */
  onDelay(reason: string): void
  signal?: AbortSignal | undefined
}

export type WriteTargets = readonly [read: string, ...others: string[]]

const POLL_MS = 50
/** A writer looks at its lease's record more often. */
const LOG_AFTER_MS = 5_000

/**
 * Has these indices fed, and the first of them read, by whoever is the writer: it finds them in the record
 * of its lease and answers there. Where nobody is the writer this process is it for a moment.
 * @throws Error when the record names others than `from` meanwhile, or `signal` ends the waiting
 */
export async function changeWriteTargets(
  options: ChangeWriteTargetsOptions,
  from: WriteTargets,
  to: WriteTargets,
): Promise<void> {
  const { document, signal } = options
  for (;;) {
    const state = await document.read()
    const targets = state?.record.targets ?? from
    if (state !== null && isSameTargets(targets, to)) break
    if (!isSameTargets(targets, from)) throw new Error(CHANGED_MEANWHILE)
    if (state === null) await becomeWriterBriefly(options, from, signal)
    else if (await document.replace(state, { ...state.record, targets: to })) break
  }
  await waitUntilApplied(options, to)
}

const CHANGED_MEANWHILE =
  'another reindex changed which indices are fed: look at "index status", then try again'

async function waitUntilApplied(
  options: ChangeWriteTargetsOptions,
  targets: WriteTargets,
): Promise<void> {
  const { document, signal } = options
  const applied = new AbortController()
  const signals = [applied.signal, ...(signal ? [signal] : [])]
  const startedAt = monotonicClock()
  let isLogged = false
  let failure: unknown
  const ownAttempt = becomeWriterBriefly(options, targets, AbortSignal.any(signals)).catch(
    (error) => {
      if (!applied.signal.aborted) failure = error
    },
  )
  try {
    for (;;) {
      const record = (await document.read())?.record
      if (record !== undefined && isApplied(record, targets)) return
      if (record !== undefined && !isSameTargets(record.targets, targets))
        throw new Error(CHANGED_MEANWHILE)
      if (failure !== undefined) throw failure
      if (!isLogged && monotonicClock() - startedAt > LOG_AFTER_MS) {
        options.onDelay(`waiting for the writer (${record?.holder}) to feed ${targets.join(', ')}`)
        isLogged = true
      }
      await pause(POLL_MS)
    }
  } finally {
    applied.abort()
    await ownAttempt
  }
}

function isApplied(record: LeaseRecord, targets: WriteTargets): boolean {
  return isSameTargets(record.targets, targets) && isSameTargets(record.fed, targets)
}

/** Waits for its turn in silence: a writer that is at work may answer first. */
async function becomeWriterBriefly(
  options: ChangeWriteTargetsOptions,
  [firstTarget]: WriteTargets,
  signal: AbortSignal | undefined,
): Promise<void> {
  const silent = { firstTarget, purpose: 'reindex' as const, onDelay() {}, signal }
  const lease = await acquireLease({ ...options, ...silent })
  await lease.release()
}
