import type { Clock } from '../lib/clock.ts'
import { sleep } from './sleep.ts'

/** Keeps the calls of a client under the account's bucket, by what the answers tell of it (contract, "Limits"). */
export interface Pace {
  /** Waits until a call may be sent. Each turn is given back once, by `done`. */
  turn(signal?: AbortSignal): Promise<void>
  /** The call ended; with the headers of its answer, if there was one. */
  done(headers?: Headers): void
  /** Nobody is sent for so long: the service said so. */
  hold(waitMs: number): void
}

/** What the last answer told: requests left by then, and how many come back a millisecond. */
interface Bucket {
  limit: number
  tokens: number
  perMs: number
  atMs: number
}

const UNTOLD_MS = 10

/**
 * Until an answer has told how large the bucket is, one call is sent at a time; from then on as many as there are
 * tokens, and after the last one a call as each comes back. Others may draw on the same bucket: the next answer
 * tells. `clock`: monotonic milliseconds.
 */
export function createPace(clock: Clock): Pace {
  let bucket: Bucket | undefined
  let inFlight = 0
  let heldUntilMs = 0
  let last: Promise<void> = Promise.resolve()

  /** How long until the next call may be sent, in milliseconds; 0: now. */
  function waitMs(): number {
    const nowMs = clock()
    if (nowMs < heldUntilMs) return heldUntilMs - nowMs
    if (bucket === undefined) return inFlight === 0 ? 0 : UNTOLD_MS
    const tokens = tokensAt(bucket, nowMs)
    return tokens >= 1 ? 0 : (1 - tokens) / bucket.perMs
  }

  async function admit(signal: AbortSignal | undefined): Promise<void> {
    for (let ms = waitMs(); ms > 0; ms = waitMs()) {
      await sleep(ms, signal)
    }
    signal?.throwIfAborted()
    inFlight++
    if (bucket === undefined) return
    const atMs = clock()
    bucket = { ...bucket, tokens: tokensAt(bucket, atMs) - 1, atMs }
  }

  return {
    turn(signal) {
      const mine = last.then(() => admit(signal)) // In the order of their coming.
      last = mine.catch(() => {})
      return mine
    },
    done(headers) {
      inFlight--
      const told = headers && readBucket(headers)
      // Those under way may be counted in it or not; that they are not is the safe guess.
      if (told) bucket = { ...told, tokens: told.tokens - inFlight, atMs: clock() }
    },
    hold(waitMs) {
      heldUntilMs = Math.max(heldUntilMs, clock() + waitMs)
    },
  }
}

function tokensAt({ limit, tokens, perMs, atMs }: Bucket, nowMs: number): number {
  return Math.min(limit, tokens + (nowMs - atMs) * perMs)
}

/** `Reset` is in whole seconds, rounded up, so the rate is never told too high. */
function readBucket(headers: Headers): Omit<Bucket, 'atMs'> | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    const text = headers.get(`ratelimit-${name}`) ?? ''
    return /^\d{1,9}$/.test(text) ? Number(text) : undefined
  })
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined
  const spent = Math.max(1, limit - remaining)
  return { limit, tokens: remaining, perMs: spent / (Math.max(1, reset) * 1000) }
}
