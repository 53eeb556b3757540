import type { Clock } from '../../lib/clock.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import type { LastWrite } from '../writer/order-index.ts'

export interface LagTrackerOptions {
  /** The write timestamp of the account's newest visible document. */
  latestWrite(accountId: string): Promise<{ key: number } | null>
  /** Monotonic milliseconds. */
  clock: Clock
  /** Called with the seconds from the entry of a change into the stream to its visibility. */
  onLag(seconds: number): void
}

/** Measures the end-to-end lag of changes: polls the index with the query of a reader. */
export interface LagTracker {
  /** Records a batch: its last document, and the stream entry times by the clock of the tracker. */
  recordWrite(last: LastWrite, enteredAtMs: readonly number[]): void
  stop(): void
}

const POLL_MS = 100
/** A document may be erased before it is visible; the next write then measures both. */
const MERGE_AFTER_MS = 5_000
const DROP_AFTER_MS = 5 * MINUTE_MS
const MAX_PENDING = 100
const MAX_SAMPLES = 500

interface PendingWrite extends LastWrite {
  writtenAt: number
  enteredAtMs: readonly number[]
}

/**
 * Creates a tracker that polls every 100 ms while a write is pending. It drops writes that stay
 * invisible for five minutes. An error of `latestWrite` only delays the next poll.
 */
export function createLagTracker({ latestWrite, clock, onLag }: LagTrackerOptions): LagTracker {
  let pending: PendingWrite[] = []
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  function schedulePoll(): void {
    timer ??= setTimeout(async () => {
      await poll().catch(() => {}) // While the store is unavailable, no change is visible.
      timer = undefined
      if (pending.length > 0 && !isStopped) schedulePoll()
    }, POLL_MS).unref()
  }

  /** Writes become visible in their order, so the poll queries the oldest pending one. */
  async function poll(): Promise<void> {
    for (;;) {
      const [oldest] = pending
      if (oldest === undefined) return
      const latest = await latestWrite(oldest.accountId)
      const now = clock()
      if (latest === null || latest.key < oldest.writeTimestamp)
        return mergeOrDropOldest(oldest, now)
      const { key } = latest
      for (const { enteredAtMs } of pending.filter(({ writeTimestamp }) => writeTimestamp <= key)) {
        for (const enteredAt of enteredAtMs) onLag((now - enteredAt) / 1000)
      }
      pending = pending.filter(({ writeTimestamp }) => writeTimestamp > key)
    }
  }

  function mergeOrDropOldest(oldest: PendingWrite, now: number): void {
    const waitedMs = now - oldest.writtenAt
    const [, next, ...others] = pending
    if (waitedMs >= MERGE_AFTER_MS && next !== undefined)
      pending = [mergeWrites(oldest, next), ...others]
    else if (waitedMs >= DROP_AFTER_MS) pending = []
  }

  return {
    recordWrite(last, enteredAtMs) {
      const { accountId, writeTimestamp } = last
      const samples = downsample(enteredAtMs)
      pending.push({ accountId, writeTimestamp, writtenAt: clock(), enteredAtMs: samples })
      const newest = pending.slice(-2)
      const [before, now] = newest
      if (pending.length > MAX_PENDING && before !== undefined && now !== undefined) {
        pending = [...pending.slice(0, -2), mergeWrites(before, now)]
      }
      schedulePoll()
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/** The visibility of the later write implies that of the earlier one. */
function mergeWrites(one: PendingWrite, later: PendingWrite): PendingWrite {
  return { ...later, enteredAtMs: downsample([...one.enteredAtMs, ...later.enteredAtMs]) }
}

/** Samples at most `MAX_SAMPLES` values evenly, including the first and the last. */
function downsample(values: readonly number[]): readonly number[] {
  if (values.length <= MAX_SAMPLES) return values
  const step = (values.length - 1) / (MAX_SAMPLES - 1)
  return Array.from({ length: MAX_SAMPLES }, (_, n) => values[Math.round(n * step)] ?? 0)
}
