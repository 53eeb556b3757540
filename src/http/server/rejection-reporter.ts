import type { FastifyBaseLogger } from 'fastify'
import type { ShedReason } from './load-shedding.ts'
import type { CloseReason } from './slow-clients.ts'

/** One line per event would flood the log as well. */
const LOG_INTERVAL_MS = 5_000

interface ReasonCounter<Reason extends string> {
  inc(labels: { reason: Reason }): void
}

export interface RejectionCounters {
  shedRequests: ReasonCounter<ShedReason>
  closedConnections: ReasonCounter<CloseReason>
}

/** Counts shed requests and closed connections, and logs them at intervals. */
export function createRejectionReporter(
  logger: FastifyBaseLogger,
  { shedRequests, closedConnections }: RejectionCounters,
) {
  const logShed = createThrottledLog<ShedReason>((shed) => {
    logger.warn({ shed }, 'overloaded: requests were rejected with 503')
  }, LOG_INTERVAL_MS)
  const logClosed = createClosedConnectionLog(logger)

  return {
    onShed(reason: ShedReason) {
      shedRequests.inc({ reason })
      logShed(reason)
    },
    onClose(reason: CloseReason) {
      closedConnections.inc({ reason })
      logClosed(reason)
    },
  }
}

/** Logs the connections that a server closes, by reason. */
export function createClosedConnectionLog(
  logger: FastifyBaseLogger,
): (reason: CloseReason) => void {
  return createThrottledLog<CloseReason>((closed) => {
    logger.warn({ closed }, 'closed connections of slow or idle clients')
  }, LOG_INTERVAL_MS)
}

/**
 * Counts frequent events by name. Logs the first one at once, then the counts of each interval
 * until an interval without events.
 */
export function createThrottledLog<Name extends string>(
  log: (counts: Partial<Record<Name, number>>) => void,
  intervalMs: number,
): (name: Name) => void {
  let counts: Partial<Record<Name, number>> = {}
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    if (Object.keys(counts).length === 0) {
      timer = undefined
      return
    }
    log(counts)
    counts = {}
    timer = setTimeout(flush, intervalMs).unref()
  }

  return (name) => {
    counts[name] = (counts[name] ?? 0) + 1
    if (timer === undefined) flush()
  }
}
