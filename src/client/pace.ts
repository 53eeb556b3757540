import type { Clock } from '../lib/clock.ts'
import { sleep as sleepFor, until } from './sleep.ts'

/** Keeps the calls of a client under the account's bucket, by what the answers tell of it (contract, "Limits"). */
export interface Pace {
  /** Waits until a call may be sent, and numbers it. Each is given back once, by `done`. @throws the signal's reason */
  turn(signal?: AbortSignal): Promise<number>
  /** The call of this number ended; with the headers of its answer, if there was one. */
  done(call: number, headers?: Headers): void
  /** Nobody is sent for so long: the service said so. */
  hold(waitMs: number): void
}

/** What the last call that was answered told, less those it did not count. */
interface Bucket {
  limit: number
  tokens: number
  /** How many come back a millisecond. */
  perMs: number
  atMs: number
}

const UNTOLD_MS = 10
/** Looked at again after so long at the latest, however long it seems to take. */
const LONGEST_LOOK_MS = 60_000
/** No bucket takes longer to be full; a header that says so is not believed. */
const LONGEST_RESET_SECONDS = 3_600

/**
 * Until an answer has told how large the bucket is, one call is sent at a time; from then on as many as there are
 * tokens, and after the last one a call as each comes back. Others may draw on the same bucket: the next answer
 * tells. `clock`: monotonic milliseconds.
 */
export function createPace(clock: Clock, sleep = sleepFor): Pace {
  let bucket: Bucket | undefined
  /** The number of the call that told it: an answer to an earlier one knows less. */
  let toldBy = 0
  let sent = 0
  const inFlight = new Set<number>()
  let heldUntilMs = 0
  let last: Promise<void> = Promise.resolve()

  /** How long until the next call may be sent, in milliseconds; 0: now. */
  function waitMs(): number {
    const nowMs = clock()
    if (nowMs < heldUntilMs) return heldUntilMs - nowMs
    if (bucket === undefined) return inFlight.size === 0 ? 0 : UNTOLD_MS
    const tokens = tokensAt(bucket, nowMs)
    return tokens >= 1 ? 0 : (1 - tokens) / bucket.perMs
  }

  async function admit(signal: AbortSignal | undefined): Promise<number> {
    for (let ms = waitMs(); ms > 0; ms = waitMs()) {
      await sleep(Math.min(ms, LONGEST_LOOK_MS), signal)
    }
    signal?.throwIfAborted()
    inFlight.add(++sent)
    const atMs = clock()
    if (bucket !== undefined) bucket = { ...bucket, tokens: tokensAt(bucket, atMs) - 1, atMs }
    return sent
  }

  return {
    async turn(signal) {
      const before = last // In the order of their coming.
      const mine = until(before, signal).then(() => admit(signal))
      // Whoever gives up leaves the line, and those behind still wait for those before.
      last = Promise.allSettled([before, mine]).then(() => {})
      return mine
    },
    done(call, headers) {
      inFlight.delete(call)
      const told = headers && readBucket(headers)
      if (told === undefined || call < toldBy) return
      toldBy = call
      // Those sent after it, and those before that are under way, may not be counted in what it tells.
      const uncounted = sent - call + [...inFlight].filter((other) => other < call).length
      bucket = { ...told, tokens: told.tokens - uncounted, atMs: clock() }
    },
    hold(waitMs) {
      heldUntilMs = Math.max(heldUntilMs, clock() + waitMs)
    },
  }
}

function tokensAt({ limit, tokens, perMs, atMs }: Bucket, nowMs: number): number {
  return Math.min(limit, tokens + (nowMs - atMs) * perMs)
}

/** `Reset` is in whole seconds, rounded up, so the rate is never told too high. What cannot be is passed over. */
function readBucket(headers: Headers): Omit<Bucket, 'atMs'> | undefined {
  const [limit = 0, remaining = -1, reset = -1] = ['limit', 'remaining', 'reset'].map((name) => {
    const text = headers.get(`ratelimit-${name}`) ?? ''
    return /^\d{1,9}$/.test(text) ? Number(text) : undefined
  })
  const isSound = limit >= 1 && remaining >= 0 && reset >= 0 && reset <= LONGEST_RESET_SECONDS
  if (!isSound) return undefined
  const spent = Math.max(1, limit - remaining)
  return { limit, tokens: remaining, perMs: spent / (Math.max(1, reset) * 1000) }
}
