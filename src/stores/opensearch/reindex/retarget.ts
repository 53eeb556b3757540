import { setTimeout as pause } from 'node:timers/promises'
import { monotonicClock } from '../../../lib/clock.ts'
import { acquireLease } from '../writer/acquire-lease.ts'
import type { Fence } from '../writer/fence.ts'
import { isSame, type LeaseOptions } from '../writer/lease.ts'
import type { LeaseRecord } from '../writer/lease-document.ts'

export interface RetargetOptions extends Omit<LeaseOptions, 'onRetargeted'> {
  fence: Fence
  greatestStamp(): Promise<number>
  /** Told what is waited for. */
  onDelay(reason: string): void
  signal?: AbortSignal | undefined
}

export type Targets = readonly [read: string, ...others: string[]]

const POLL_MS = 50
/** A writer looks at its lease's record more often. */
const TOLD_AFTER_MS = 5_000

/**
 * Has these indices fed, and the first of them read, by whoever is the writer: it finds them in the record
 * of its lease and answers there. Where nobody is the writer this process is it for a moment.
 * @throws Error when the record names others than `from` meanwhile, or `signal` ends the waiting
 */
export async function retarget(
  options: RetargetOptions,
  from: Targets,
  to: Targets,
): Promise<void> {
  const { document, signal } = options
  for (;;) {
    const state = await document.read()
    const targets = state?.record.targets ?? from
    if (state !== null && isSame(targets, to)) break
    if (!isSame(targets, from)) throw new Error(CHANGED)
    if (state === null) await beWriter(options, from, signal)
    else if (await document.replace(state, { ...state.record, targets: to })) break
  }
  await untilFed(options, to)
}

const CHANGED =
  'another reindex changed which indices are fed: look at "index status", then try again'

async function untilFed(options: RetargetOptions, targets: Targets): Promise<void> {
  const { document, signal } = options
  const answered = new AbortController()
  const signals = [answered.signal, ...(signal ? [signal] : [])]
  const startedAt = monotonicClock()
  let isTold = false
  let failure: unknown
  const ownTurn = beWriter(options, targets, AbortSignal.any(signals)).catch((error) => {
    if (!answered.signal.aborted) failure = error
  })
  try {
    for (;;) {
      const record = (await document.read())?.record
      if (record !== undefined && isAnswered(record, targets)) return
      if (record !== undefined && !isSame(record.targets, targets)) throw new Error(CHANGED)
      if (failure !== undefined) throw failure
      if (!isTold && monotonicClock() - startedAt > TOLD_AFTER_MS) {
        options.onDelay(`waiting for the writer (${record?.holder}) to feed ${targets.join(', ')}`)
        isTold = true
      }
      await pause(POLL_MS)
    }
  } finally {
    answered.abort()
    await ownTurn
  }
}

function isAnswered(record: LeaseRecord, targets: Targets): boolean {
  return isSame(record.targets, targets) && isSame(record.fed, targets)
}

/** Waits for its turn in silence: a writer that is at work may answer first. */
async function beWriter(
  options: RetargetOptions,
  [firstTarget]: Targets,
  signal: AbortSignal | undefined,
): Promise<void> {
  const silent = { firstTarget, purpose: 'reindex' as const, onDelay() {}, signal }
  const lease = await acquireLease({ ...options, ...silent })
  await lease.release()
}
