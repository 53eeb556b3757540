import type { FastifyBaseLogger } from 'fastify'
import type { ChangeStream } from './indexing/sources/change-stream.ts'
import type { Stores } from './stores/stores.ts'

/** Whether the stores answer, for machines that ask. */
export type Readiness = () => Promise<boolean>

// Nothing is kept under it: looking for it is the whole question.
const PROBE = 'health-probe'

/** Looks at every store that a request needs. */
export function createReadiness(
  { keys, orders }: Pick<Stores, 'keys' | 'orders'>,
  logger: FastifyBaseLogger,
): Readiness {
  const look = () => Promise.all([keys.byId(PROBE), orders.latestWrite(PROBE)])
  return readinessOf(look, 'the API answers 503', logger)
}

/** Looks at what a watch needs: where it writes, and where the changes come from. */
export function createWatchReadiness(
  { orders }: Pick<Stores, 'orders'>,
  stream: Pick<ChangeStream, 'ping'>,
  logger: FastifyBaseLogger,
): Readiness {
  const look = () => Promise.all([orders.latestWrite(PROBE), stream.ping()])
  return readinessOf(look, 'no change is written', logger)
}

/** Tells the log why it is not ready, what follows from it, and when it changes. */
function readinessOf(
  look: () => Promise<unknown>,
  consequence: string,
  logger: FastifyBaseLogger,
): Readiness {
  let wasReady = true

  return async () => {
    try {
      await look()
      if (!wasReady) logger.info('ready again')
      wasReady = true
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (wasReady) logger.warn({ reason }, `not ready: ${consequence}`)
      wasReady = false
    }
    return wasReady
  }
}
