import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, monotonicClock } from '../../lib/clock.ts'
import type { Health, Readiness } from '../operations/readiness.ts'
import { connectionTrackerOf } from './connection-tracker.ts'

/** So long after the last question for readiness somebody is taken to go by the answer. */
const BALANCER_ACTIVE_MS = 30_000
/** How long a balancer may take to hear that this process is not ready. */
const NOT_READY_PROPAGATION_MS = 5_000
/** Whoever still sends after so long does not heed what it is told. */
const MAX_DRAIN_MS = 8_000
const CHECK_INTERVAL_MS = 25
/** Nobody sends any more when nothing has come for half a second. */
const QUIET_CHECKS = 500 / CHECK_INTERVAL_MS

/** What is told of a process that leaves. */
export const DRAINING: Health = { status: 'draining', checks: {} }

/** How a server that others rely on goes away. */
export interface GracefulShutdown {
  /** Whether to send it requests: no, from the moment it leaves. */
  isReady: Readiness
  /**
   * Goes on answering while it sends everybody away: balancers by `isReady`, clients by `Connection: close`.
   * Resolves when nobody sends or reads any more. What is closed before that may lose a request that is on
   * its way, in the kernel's queue of new connections or on one that was idle; and Node cuts answers that
   * are made and not wholly taken.
   */
  drain(): Promise<void>
}

export function createGracefulShutdown(
  server: Server,
  isReady: Readiness,
  clock: Clock = monotonicClock,
): GracefulShutdown {
  const connections = connectionTrackerOf(server)
  let isDraining = false
  let lastReadinessMs = Number.NEGATIVE_INFINITY

  return {
    async isReady() {
      lastReadinessMs = clock()
      return isDraining ? DRAINING : await isReady()
    },

    async drain() {
      const startedMs = clock()
      const hasBalancer = startedMs - lastReadinessMs < BALANCER_ACTIVE_MS
      isDraining = true
      connections.closeAfterResponses()

      // Looks are counted, since time alone does not tell: a process that got no CPU for a while has not
      // looked at what came meanwhile.
      let quietChecks = 0
      let acceptedCount = connections.acceptedCount()

      function isDone(): boolean {
        const passedMs = clock() - startedMs
        if (passedMs >= MAX_DRAIN_MS) return true
        const isQuiet =
          acceptedCount === connections.acceptedCount() && connections.inFlight.size === 0
        quietChecks = isQuiet ? quietChecks + 1 : 0
        acceptedCount = connections.acceptedCount()
        const isPropagated = !hasBalancer || passedMs >= NOT_READY_PROPAGATION_MS
        return isPropagated && quietChecks > QUIET_CHECKS
      }

      while (!isDone()) await sleep(CHECK_INTERVAL_MS)
    },
  }
}
