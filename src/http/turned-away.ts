import type { FastifyBaseLogger } from 'fastify'
import type { CutReason, ShedReason } from '../metrics/http.ts'
import type { Metrics } from '../metrics/serving.ts'
import { createTally } from './tally.ts'

/** A line each would be the flood once more. */
const TELL_EVERY_MS = 5_000

/** Counts who is turned away, and tells the log of it now and then. */
export function tellOfClients(
  logger: FastifyBaseLogger,
  { shedRequests, cutConnections }: Pick<Metrics, 'shedRequests' | 'cutConnections'>,
) {
  const tellShed = createTally<ShedReason>((shed) => {
    logger.warn({ shed }, 'overloaded: requests were answered 503')
  }, TELL_EVERY_MS)
  const tellCut = createTally<CutReason>((cut) => {
    logger.warn({ cut }, 'connections were cut that held up others')
  }, TELL_EVERY_MS)

  return {
    onShed(reason: ShedReason) {
      shedRequests.inc({ reason })
      tellShed(reason)
    },
    onCut(reason: CutReason) {
      cutConnections.inc({ reason })
      tellCut(reason)
    },
  }
}
