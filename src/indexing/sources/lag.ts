import type { Clock } from '../../lib/clock.ts'
import type { LastWrite } from '../writing/order-index.ts'

export interface LagMeterOptions {
  /** The last write that a reader of the account is shown, by its stamp. */
  latestWrite(accountId: string): Promise<{ key: number } | null>
  /** Monotonic milliseconds. */
  clock: Clock
  /** Told the seconds from a change's entry into the stream until a reader is shown it. */
  onLag(seconds: number): void
}

/** Measures how long changes take, end to end: by asking as a reader does, again and again. */
export interface LagMeter {
  /** Changes were written, the last one as `last`; they entered the stream then, on the meter's clock. */
  written(last: LastWrite, enteredAtMs: readonly number[]): void
  stop(): void
}

const ASK_MS = 100
/** A document that was erased right after it was written is never seen; the next write tells of it then. */
const DOUBTFUL_MS = 5_000
const HOPELESS_MS = 300_000
const MAX_WAITING = 100
const MAX_SAMPLES = 500

interface Waiting extends LastWrite {
  writtenAt: number
  enteredAtMs: readonly number[]
}

export function createLagMeter({ latestWrite, clock, onLag }: LagMeterOptions): LagMeter {
  let waiting: Waiting[] = []
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  function askSoon(): void {
    timer ??= setTimeout(async () => {
      await ask().catch(() => {}) // While nobody is answered, nobody is shown anything.
      timer = undefined
      if (waiting.length > 0 && !isStopped) askSoon()
    }, ASK_MS).unref()
  }

  /** Whoever is shown a write is shown all that was written before: so asking for the oldest tells. */
  async function ask(): Promise<void> {
    for (;;) {
      const [oldest] = waiting
      if (oldest === undefined) return
      const shown = await latestWrite(oldest.accountId)
      const now = clock()
      if (shown === null || shown.key < oldest.stamp) return giveUp(oldest, now)
      const { key } = shown
      for (const { enteredAtMs } of waiting.filter(({ stamp }) => stamp <= key)) {
        for (const enteredAt of enteredAtMs) onLag((now - enteredAt) / 1000)
      }
      waiting = waiting.filter(({ stamp }) => stamp > key)
    }
  }

  function giveUp(oldest: Waiting, now: number): void {
    const waitedMs = now - oldest.writtenAt
    const [, next, ...others] = waiting
    if (waitedMs >= DOUBTFUL_MS && next !== undefined) waiting = [together(oldest, next), ...others]
    else if (waitedMs >= HOPELESS_MS) waiting = []
  }

  return {
    written(last, enteredAtMs) {
      const { accountId, stamp } = last
      const samples = thinOut(enteredAtMs)
      waiting.push({ accountId, stamp, writtenAt: clock(), enteredAtMs: samples })
      const newest = waiting.slice(-2)
      const [before, now] = newest
      if (waiting.length > MAX_WAITING && before !== undefined && now !== undefined) {
        waiting = [...waiting.slice(0, -2), together(before, now)]
      }
      askSoon()
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/** The later of two writes tells of both. */
function together(one: Waiting, later: Waiting): Waiting {
  return { ...later, enteredAtMs: thinOut([...one.enteredAtMs, ...later.enteredAtMs]) }
}

/** So many at most, evenly taken, the first and the last among them. */
function thinOut(values: readonly number[]): readonly number[] {
  if (values.length <= MAX_SAMPLES) return values
  const step = (values.length - 1) / (MAX_SAMPLES - 1)
  return Array.from({ length: MAX_SAMPLES }, (_, n) => values[Math.round(n * step)] ?? 0)
}
