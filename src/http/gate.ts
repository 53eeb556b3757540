import type { ServerResponse } from 'node:http'
import { type Clock, monotonicClock } from '../lib/clock.ts'
import type { ShedReason } from '../metrics/http.ts'

/** Lets in as many requests as can be answered soon. */
export interface Gate {
  /** Takes a place for a request, or tells why it gets none. */
  enter(response: ServerResponse): ShedReason | undefined
  /** Gives the place back: the answer is made, whoever may read it and when. */
  leave(response: ServerResponse): void
}

export interface GateOptions {
  /** Requests that are worked on at a time. */
  maxConcurrent: number
  /** How old a turn of the event loop may be, since its first request, before it takes no more work; milliseconds. */
  maxHeldUpMs: number
  clock?: Clock
}

/**
 * Nobody waits at this gate. What is inside already waits in line for the CPU, so `maxConcurrent` is how
 * long that line may become: whoever would wait longer is told at once.
 */
export function createGate({
  maxConcurrent,
  maxHeldUpMs,
  clock = monotonicClock,
}: GateOptions): Gate {
  const inside = new Set<ServerResponse>()
  let taken = 0
  let left = 0
  let turnSinceMs: number | undefined

  // Places are given back between two turns of the loop. The embedded store answers within one, where no
  // two requests would ever be inside together, however many wait for their turn.
  function endTurn(): void {
    taken -= left
    left = 0
    turnSinceMs = undefined
  }

  /** The instant of the first request or answer of this turn of the loop. */
  function turnStart(now: number): number {
    if (turnSinceMs === undefined) setImmediate(endTurn)
    turnSinceMs ??= now
    return turnSinceMs
  }

  function leave(response: ServerResponse): void {
    if (!inside.delete(response)) return
    turnStart(clock())
    left += 1
  }

  return {
    enter(response) {
      const now = clock()
      if (now - turnStart(now) > maxHeldUpMs) return 'event_loop'
      if (taken >= maxConcurrent) return 'concurrency'
      taken += 1
      inside.add(response)
      response.once('close', () => leave(response)) // A caller who went away gets no answer made.
      return undefined
    },

    leave,
  }
}
