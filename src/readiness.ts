import type { FastifyBaseLogger } from 'fastify'
import type { Stores } from './stores/stores.ts'

/** Whether the stores answer, for machines that ask. */
export type Readiness = () => Promise<boolean>

// Nothing is kept under it: looking for it is the whole question.
const PROBE = 'health-probe'

/** Looks at every store that a request needs, and tells the log why not, and when it changes. */
export function createReadiness(
  { keys, orders }: Pick<Stores, 'keys' | 'orders'>,
  logger: FastifyBaseLogger,
): Readiness {
  let wasReady = true

  return async () => {
    try {
      await Promise.all([keys.byId(PROBE), orders.latestWrite(PROBE)])
      if (!wasReady) logger.info('ready again')
      wasReady = true
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (wasReady) logger.warn({ reason }, 'not ready: the API answers 503')
      wasReady = false
    }
    return wasReady
  }
}
