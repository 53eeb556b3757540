import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { type Clock, monotonicClock } from '../../lib/clock.ts'
import type { Health, Readiness } from '../operations/readiness.ts'
import { connectionTrackerOf } from './connection-tracker.ts'

/** A readiness request this recent means that a load balancer acts on the result. */
const BALANCER_ACTIVE_MS = 30_000
/** How long a load balancer can take to detect that this process is not ready. */
const NOT_READY_PROPAGATION_MS = 5_000
/** A client that still sends after this time ignores `Connection: close`. */
const MAX_DRAIN_MS = 8_000
/** A call of the management API that arrives then may take 10 s, of the 15 s of a shutdown. */
const MAX_SIDE_DRAIN_MS = 3_000
const CHECK_INTERVAL_MS = 25
/** Traffic has ended after half a second without a request or connection. */
const QUIET_CHECKS = 500 / CHECK_INTERVAL_MS

/** The health of a process that shuts down. */
export const DRAINING: Health = { status: 'draining', checks: {} }

/** The first phase of a shutdown: the server still responds while traffic moves elsewhere. */
export interface GracefulShutdown {
  /** The readiness for load balancers: `draining` from the start of {@link drain}. */
  isReady: Readiness
  /**
   * Serves requests while load balancers see `draining` and clients see `Connection: close`.
   * Resolves when no request is in flight and no new one arrives. Closing earlier can lose requests
   * in the kernel's accept queue or on idle connections, and truncates responses in transit.
   */
  drain(): Promise<void>
}

/** Both phases for a server that runs beside the API, whose readiness no load balancer queries. */
export async function drainAndClose(app: FastifyInstance): Promise<void> {
  const isReady = async () => DRAINING
  await createGracefulShutdown(app.server, isReady, monotonicClock, MAX_SIDE_DRAIN_MS).drain()
  await app.close()
}

/** Creates the drain phase of `server`, of at most `maxMs`. `clock`: monotonic milliseconds. */
export function createGracefulShutdown(
  server: Server,
  isReady: Readiness,
  clock: Clock = monotonicClock,
  maxMs: number = MAX_DRAIN_MS,
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

      // Quiet checks are counted, because elapsed time is not enough: a process without CPU time
      // has not accepted the connections that arrived meanwhile.
      let quietChecks = 0
      let acceptedCount = connections.acceptedCount()

      function isDone(): boolean {
        const passedMs = clock() - startedMs
        if (passedMs >= maxMs) return true
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
