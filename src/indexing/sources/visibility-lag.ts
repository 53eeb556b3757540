import type { Clock } from '../../lib/clock.ts'
import type { LastWrite } from '../writer/order-index.ts'

export interface LagTrackerOptions {
  /** The last write that a reader of the account is shown, by its stamp. */
  latestWrite(accountId: string): Promise<{ key: number } | null>
  /** Monotonic milliseconds. */
  clock: Clock
  /** Told the seconds from a change's entry into the stream until a reader is shown it. */
  onLag(seconds: number): void
}

/** Measures how long changes take, end to end: by asking as a reader does, again and again. */
export interface LagTracker {
  /** Changes were written, the last one as `last`; they entered the stream then, on the meter's clock. */
  recordWrite(last: LastWrite, enteredAtMs: readonly number[]): void
  stop(): void
}

const POLL_MS = 100
/** A document that was erased right after it was written is never seen; the next write tells of it then. */
const MERGE_AFTER_MS = 5_000
const DROP_AFTER_MS = 300_000
const MAX_PENDING = 100
const MAX_SAMPLES = 500

interface PendingWrite extends LastWrite {
  writtenAt: number
  enteredAtMs: readonly number[]
}

export function createLagTracker({ latestWrite, clock, onLag }: LagTrackerOptions): LagTracker {
  let pending: PendingWrite[] = []
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  function schedulePoll(): void {
    timer ??= setTimeout(async () => {
      await poll().catch(() => {}) // While nobody is answered, nobody is shown anything.
      timer = undefined
      if (pending.length > 0 && !isStopped) schedulePoll()
    }, POLL_MS).unref()
  }

  /** Whoever is shown a write is shown all that was written before: so asking for the oldest tells. */
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

/** The later of two writes tells of both. */
function mergeWrites(one: PendingWrite, later: PendingWrite): PendingWrite {
  return { ...later, enteredAtMs: downsample([...one.enteredAtMs, ...later.enteredAtMs]) }
}

/** So many at most, evenly taken, the first and the last among them. */
function downsample(values: readonly number[]): readonly number[] {
  if (values.length <= MAX_SAMPLES) return values
  const step = (values.length - 1) / (MAX_SAMPLES - 1)
  return Array.from({ length: MAX_SAMPLES }, (_, n) => values[Math.round(n * step)] ?? 0)
}
