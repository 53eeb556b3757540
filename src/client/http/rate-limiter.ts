import type { Clock } from '../../lib/clock.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import { sleep as sleepFor } from '../sleep.ts'

/**
 * Keeps the calls of one client within the account's token bucket, which the service reports in the
 * `RateLimit-*` headers (guide, "Limites").
 */
export interface RateLimiter {
  /**
   * Waits for a token and returns the number of the call. Each call is released once.
   * @throws the signal's reason
   */
  acquire(signal?: AbortSignal): Promise<number>
  /** Ends the call; `headers` are those of its response, if one arrived. */
  release(call: number, headers?: Headers): void
  /** Sends no call for `waitMs`, because the service returned 429. */
  pause(waitMs: number): void
}

/** Latest bucket state, minus calls not yet counted. */
interface Bucket {
  limit: number
  tokens: number
  refillPerMs: number
  atMs: number
}

const UNKNOWN_BUCKET_POLL_MS = 10
/** The state is read again after this long, in case a response has changed it meanwhile. */
const MAX_SLEEP_MS = MINUTE_MS
/** A header that reports a longer reset is ignored as invalid. */
const MAX_RESET_SECONDS = 3_600

/**
 * Sends one call at a time until a response reports the bucket. Then it sends as many calls as
 * there are tokens, and one more per refilled token. Other clients may draw on the same bucket, so
 * each response replaces the state. `clock`: monotonic milliseconds.
 */
export function createRateLimiter(clock: Clock, sleep = sleepFor): RateLimiter {
  let bucket: Bucket | undefined
  /** The call whose response reported the bucket; responses to earlier calls are outdated. */
  let reportedBy = 0
  let sent = 0
  const inFlight = new Set<number>()
  let pausedUntilMs = 0
  let last: Promise<void> = Promise.resolve()

  function delayMs(): number {
    const nowMs = clock()
    if (nowMs < pausedUntilMs) return pausedUntilMs - nowMs
    if (bucket === undefined) return inFlight.size === 0 ? 0 : UNKNOWN_BUCKET_POLL_MS
    const tokens = tokensAt(bucket, nowMs)
    return tokens >= 1 ? 0 : (1 - tokens) / bucket.refillPerMs
  }

  async function takeToken(signal: AbortSignal | undefined): Promise<number> {
    for (let ms = delayMs(); ms > 0; ms = delayMs()) {
      await sleep(Math.min(ms, MAX_SLEEP_MS), signal)
    }
    signal?.throwIfAborted()
    inFlight.add(++sent)
    const atMs = clock()
    if (bucket !== undefined) bucket = { ...bucket, tokens: tokensAt(bucket, atMs) - 1, atMs }
    return sent
  }

  return {
    async acquire(signal) {
      const previous = last // Calls acquire in order of arrival.
      const mine = orAbort(previous, signal).then(() => takeToken(signal))
      // An aborted call leaves the queue at once; the calls behind it still wait for `previous`.
      last = Promise.allSettled([previous, mine]).then(() => {})
      return mine
    },
    release(call, headers) {
      inFlight.delete(call)
      const reported = headers && readBucket(headers)
      if (reported === undefined || call < reportedBy) return
      reportedBy = call
      // Calls sent later, and earlier ones still in flight, may not be counted in the headers.
      const uncounted = sent - call + [...inFlight].filter((other) => other < call).length
      bucket = { ...reported, tokens: reported.tokens - uncounted, atMs: clock() }
    },
    pause(waitMs) {
      pausedUntilMs = Math.max(pausedUntilMs, clock() + waitMs)
    },
  }
}

function tokensAt({ limit, tokens, refillPerMs, atMs }: Bucket, nowMs: number): number {
  return Math.min(limit, tokens + (nowMs - atMs) * refillPerMs)
}

/**
 * `RateLimit-Reset` is rounded up to whole seconds, so the refill rate is never overestimated.
 * Invalid headers return `undefined`.
 */
function readBucket(headers: Headers): Omit<Bucket, 'atMs'> | undefined {
  const [limit = 0, remaining = -1, reset = -1] = ['limit', 'remaining', 'reset'].map((name) => {
    const text = headers.get(`ratelimit-${name}`) ?? ''
    return /^\d{1,9}$/.test(text) ? Number(text) : undefined
  })
  const isValid = limit >= 1 && remaining >= 0 && reset >= 0 && reset <= MAX_RESET_SECONDS
  if (!isValid) return undefined
  const spent = Math.max(1, limit - remaining)
  return { limit, tokens: remaining, refillPerMs: spent / (Math.max(1, reset) * 1000) }
}

/** Waits for a promise that never rejects. @throws the signal's reason as soon as it aborts */
function orAbort(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    void promise.then(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
  })
}
