import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectionsOf } from '../http/connections.ts'
import { type Clock, monotonicClock } from '../lib/clock.ts'
import type { Health, Readiness } from '../readiness.ts'

/** So long after the last question for readiness somebody is taken to go by the answer. */
const WATCHED_MS = 30_000
/** How long a balancer may take to hear that this process is not ready. */
const TELLING_MS = 5_000
/** Whoever still sends after so long does not heed what it is told. */
const LONGEST_MS = 8_000
const LOOK_MS = 25
/** Nobody sends any more when nothing has come for half a second. */
const QUIET_LOOKS = 500 / LOOK_MS

/** What is told of a process that leaves. */
export const GONE: Health = { status: 'draining', checks: {} }

/** How a server that others rely on goes away. */
export interface Leaving {
  /** Whether to send it requests: no, from the moment it leaves. */
  isReady: Readiness
  /**
   * Goes on answering while it sends everybody away: balancers by `isReady`, clients by `Connection: close`.
   * Resolves when nobody sends or reads any more. What is closed before that may lose a request that is on
   * its way, in the kernel's queue of new connections or on one that was idle; and Node cuts answers that
   * are made and not wholly taken.
   */
  leave(): Promise<void>
}

export function createLeaving(
  server: Server,
  isReady: Readiness,
  clock: Clock = monotonicClock,
): Leaving {
  const connections = connectionsOf(server)
  let isLeaving = false
  let askedMs = Number.NEGATIVE_INFINITY

  return {
    async isReady() {
      askedMs = clock()
      return isLeaving ? GONE : await isReady()
    },

    async leave() {
      const startedMs = clock()
      const isWatched = startedMs - askedMs < WATCHED_MS
      isLeaving = true
      connections.closeAfterAnswers()

      // Looks are counted, since time alone does not tell: a process that got no CPU for a while has not
      // looked at what came meanwhile.
      let quietLooks = 0
      let comings = connections.comings()

      function isDone(): boolean {
        const passedMs = clock() - startedMs
        if (passedMs >= LONGEST_MS) return true
        const isQuiet = comings === connections.comings() && connections.underWay.size === 0
        quietLooks = isQuiet ? quietLooks + 1 : 0
        comings = connections.comings()
        const isTold = !isWatched || passedMs >= TELLING_MS
        return isTold && quietLooks > QUIET_LOOKS
      }

      while (!isDone()) await sleep(LOOK_MS)
    },
  }
}
