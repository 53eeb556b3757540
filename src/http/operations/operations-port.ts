import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import { listen, serverUrl } from '../server/listen.ts'

const DEFAULT_OPERATIONS_PORT = 3001

/**
 * Serves health and metrics. Only a configured port is required: another instance can already use
 * the default one.
 * @throws Error when OPERATIONS_PORT is set and cannot be bound
 */
export async function listenOperations(
  operations: FastifyInstance,
  { host, operationsPort }: Pick<Config, 'host' | 'operationsPort'>,
  logger: Logger,
): Promise<void> {
  try {
    await listen(operations, host, operationsPort ?? DEFAULT_OPERATIONS_PORT, 'OPERATIONS_PORT')
    logger.info(`operations at ${serverUrl(operations)}`)
  } catch (error) {
    if (operationsPort !== undefined) throw error
    logger.warn({ err: error }, 'continuing without the operations port')
  }
}
