import type { FastifyBaseLogger } from 'fastify'
import type { CloseReason, ShedReason } from '../../observability/metrics/http.ts'
import type { Metrics } from '../../observability/metrics/registry.ts'
import { createThrottledLog } from './throttled-log.ts'

/** A line each would be the flood once more. */
const LOG_INTERVAL_MS = 5_000

/** Counts who is turned away, and tells the log of it now and then. */
export function createRejectionReporter(
  logger: FastifyBaseLogger,
  { shedRequests, closedConnections }: Pick<Metrics, 'shedRequests' | 'closedConnections'>,
) {
  const logShed = createThrottledLog<ShedReason>((shed) => {
    logger.warn({ shed }, 'overloaded: requests were answered 503')
  }, LOG_INTERVAL_MS)
  const logClosed = createThrottledLog<CloseReason>((cut) => {
    logger.warn({ cut }, 'connections were cut that held up others')
  }, LOG_INTERVAL_MS)

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
