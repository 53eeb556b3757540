import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Config } from '../../../config/config.ts'
import { memoizeAsync } from '../../../lib/async/memoize-async.ts'
import { wallClock } from '../../../lib/clock.ts'
import { Unavailable } from '../../../lib/errors/unavailable.ts'
import { startHousekeeping } from '../../../management/housekeeping.ts'
import { createManagement } from '../../../management/management.ts'
import { openIngestionStream, type Services } from '../../../services.ts'
import { IndexLost } from '../../../stores/index-lost.ts'
import { webhookSettings } from '../../webhooks/with-webhooks.ts'
import { startConsole } from './console-server.ts'
import { type ManagementAccess, startManagement } from './management-server.ts'

export interface ManagementServersOptions {
  services: Services
  logger: Logger
  registry: Registry
  /** Serves both on loopback, also without the settings. */
  demo: boolean
}

/** The management API and the console of a process that serves. */
export interface ManagementServers {
  /** `null` without a management API. */
  access: ManagementAccess | null
  /** Starts one session of the demo account; `null` without one, or when it is blocked. */
  consoleLink: string | null
  /** Responds until requests stop, and waits for those in flight. */
  close(): Promise<void>
}

const OFF: ManagementServers = { access: null, consoleLink: null, close: async () => {} }

/**
 * Serves the management API on `MANAGEMENT_PORT` and the console on `CONSOLE_PORT`, over one
 * domain.
 * @throws Error naming the setting of a port that cannot be bound
 */
export async function startManagementServers(
  config: Config,
  { services, logger, registry, demo }: ManagementServersOptions,
): Promise<ManagementServers> {
  const { managementPort, consolePort } = config
  if (managementPort === undefined && consolePort === undefined && !demo) return OFF
  const management = createManagement({
    ...services,
    webhookSettings: webhookSettings(services, config),
    openIndex: (options) => services.openIndex(options).catch(lostToUnavailable),
    keys: {
      ...services.keys,
      list: (...args) => services.keys.list(...args).catch(lostToUnavailable),
      insert: (key) => services.keys.insert(key).catch(lostToUnavailable),
      setAccountBlocked: (...args) =>
        services.keys.setAccountBlocked(...args).catch(lostToUnavailable),
    },
    stream: await openIngestionStream(config, (warning) => logger.warn(warning)),
    clock: wallClock,
  })
  const started: { close(): Promise<void> }[] = []
  const close = memoizeAsync(async () => {
    await Promise.all(started.map((server) => server.close()))
    await management.close()
  })
  try {
    const shared = { management, services, logger, demo }
    const accountConsole = await startConsole(config, shared)
    started.push(accountConsole)
    const consoleUrl = accountConsole.url
    const api = await startManagement(config, { ...shared, registry, consoleUrl })
    started.push(api)
    const onFailure = (err: unknown) =>
      logger.warn({ err }, 'expired usage and sessions not purged')
    started.push(startHousekeeping({ stores: management.stores, clock: wallClock, onFailure }))
    return { access: api.access, consoleLink: accountConsole.demoLink, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** A server stays up without an index, and responds 503 until it is restored. */
function lostToUnavailable(error: unknown): never {
  if (error instanceof IndexLost) throw new Unavailable(error.message, { cause: error })
  throw error
}
