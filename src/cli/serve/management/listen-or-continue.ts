import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { listen } from '../../../http/server/listen.ts'

export const LOOPBACK = '127.0.0.1'

export interface OptionalPort {
  /** The address of a configured port; another one listens on loopback. */
  host: string
  /** `undefined`: not configured, so `demoPort` is used. */
  port: number | undefined
  demoPort: number
  /** The setting of `port`. */
  setting: string
  /** What listens, in the log. */
  name: string
  /** What the process continues without, in the log. */
  feature: string
}

/**
 * Listens on the port. Only a configured port is required: another demo can already use the default
 * one. Returns whether `app` listens; it is closed otherwise.
 * @throws Error naming the setting when a configured port cannot be bound
 */
export async function listenOrContinue(
  app: FastifyInstance,
  { host, port, demoPort, setting, name, feature }: OptionalPort,
  logger: Logger,
): Promise<boolean> {
  try {
    const address = port === undefined ? LOOPBACK : host
    await listen(app, address, port ?? demoPort, setting, name)
    return true
  } catch (error) {
    await app.close()
    if (port !== undefined) throw error
    logger.warn({ err: error }, `continuing without ${feature}`)
    return false
  }
}
