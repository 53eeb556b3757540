import type { ServerResponse } from 'node:http'
import { type Clock, monotonicClock } from '../../lib/clock.ts'
import type { ShedReason } from '../../observability/metrics/http.ts'

/** Lets in as many requests as can be answered soon. */
export interface ConcurrencyLimiter {
  /** Takes a place for a request, or tells why it gets none. */
  tryAcquire(response: ServerResponse): ShedReason | undefined
  /** Gives the place back: the answer is made, whoever may read it and when. */
  release(response: ServerResponse): void
}

export interface ConcurrencyLimiterOptions {
  /** Requests that are worked on at a time. */
  maxConcurrent: number
  /** How old a turn of the event loop may be, since its first request, before it takes no more work; milliseconds. */
  maxLoopDelayMs: number
  clock?: Clock
}

/**
 * Nobody waits at this gate. What is inside already waits in line for the CPU, so `maxConcurrent` is how
 * long that line may become: whoever would wait longer is told at once.
 */
export function createConcurrencyLimiter({
  maxConcurrent,
  maxLoopDelayMs,
  clock = monotonicClock,
}: ConcurrencyLimiterOptions): ConcurrencyLimiter {
  const inFlight = new Set<ServerResponse>()
  let acquired = 0
  let released = 0
  let tickSinceMs: number | undefined

  // Places are given back between two turns of the loop. The embedded store answers within one, where no
  // two requests would ever be inside together, however many wait for their turn.
  function endTick(): void {
    acquired -= released
    released = 0
    tickSinceMs = undefined
  }

  /** The instant of the first request or answer of this turn of the loop. */
  function tickStart(now: number): number {
    if (tickSinceMs === undefined) setImmediate(endTick)
    tickSinceMs ??= now
    return tickSinceMs
  }

  function release(response: ServerResponse): void {
    if (!inFlight.delete(response)) return
    tickStart(clock())
    released += 1
  }

  return {
    tryAcquire(response) {
      const now = clock()
      if (now - tickStart(now) > maxLoopDelayMs) return 'event_loop'
      if (acquired >= maxConcurrent) return 'concurrency'
      acquired += 1
      inFlight.add(response)
      response.once('close', () => release(response)) // A caller who went away gets no answer made.
      return undefined
    },

    release,
  }
}
