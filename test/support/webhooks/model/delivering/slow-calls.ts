import type { Random } from '../../../../../src/demo/random.ts'
import type { Clock } from '../../../../../src/lib/clock.ts'

/** Calls of stores that take seconds of the simulated time. */
export interface SlowCalls {
  /** Runs a call. It may wait before it, or its result may be late. */
  run<T>(name: string, call: () => Promise<T>): Promise<T>
  /** Continues what is due. Call it after the clock advanced. */
  respond(): void
  /** Continues everything: the dispatcher died. */
  release(): void
  /** Continues everything, and from now on no call is slow. */
  heal(): void
  /** When the next call continues, epoch milliseconds; infinite without one. */
  nextDueAt(): number
}

/** Without those for which the feed waits: its reads tell when a dispatcher is idle. */
const SLOW: ReadonlySet<string> = new Set([
  'byId',
  'cancel',
  'due',
  'failingSince',
  'hold',
  'list',
  'nextDueAt',
  'releaseHeld',
  'save',
  'update',
])
const DURATIONS_MS = [1, 1_500, 15_000]
/** Of a wait before a call, and of one after it. */
const SLOW_SHARE = 0.05

/** Creates the calls of a walk. */
export function createSlowCalls(random: Random, clock: Clock): SlowCalls {
  let waiting: { dueAt: number; resolve(): void }[] = []
  let isHealed = false

  async function wait(): Promise<void> {
    if (isHealed || !random.chance(SLOW_SHARE)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.push({ dueAt: clock() + random.pick(DURATIONS_MS), resolve })
    await promise
  }

  function continueUntil(atMs: number): void {
    const due = waiting.filter(({ dueAt }) => dueAt <= atMs)
    waiting = waiting.filter((call) => !due.includes(call))
    for (const { resolve } of due) resolve()
  }

  const release = () => continueUntil(Number.POSITIVE_INFINITY)

  return {
    async run(name, call) {
      if (!SLOW.has(name)) return call()
      await wait()
      const result = await call()
      await wait()
      return result
    },
    respond: () => continueUntil(clock()),
    release,
    heal() {
      isHealed = true
      release()
    },
    nextDueAt: () => Math.min(...waiting.map(({ dueAt }) => dueAt)),
  }
}
