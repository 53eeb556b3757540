import { type Config, parseConfig } from '../config/config.ts'
import { type KeyServices, openKeyServices, openServices, type Services } from '../services.ts'
import { assertIndexNotLost } from './index-loss-check.ts'

/** What `main` takes from the process. */
export type Environment = Readonly<Record<string, string | undefined>>

export interface WithServicesOptions {
  /** Runs it also where the index of the orders is lost: the store refuses what it cannot do there. */
  allowLostIndex?: boolean
}

/**
 * Runs a command on the services of the settings, and closes them whatever happens.
 * @throws IndexLost where the index of the orders is lost, unless the command runs there too
 */
export type WithServices = <T>(
  work: (services: Services, config: Config) => Promise<T>,
  options?: WithServicesOptions,
) => Promise<T>

export function createWithServices(env: Environment): WithServices {
  return async (work, { allowLostIndex = false } = {}) => {
    const config = parseConfig(env)
    const services = await openServices(config)
    try {
      if (!allowLostIndex) await assertIndexNotLost(services)
      return await work(services, config)
    } finally {
      await services.close()
    }
  }
}

/** The same on keys and accounts alone, also where the index is lost. */
export type WithKeys = <T>(work: (services: KeyServices) => Promise<T>) => Promise<T>

export function createWithKeys(env: Environment): WithKeys {
  return async (work) => {
    const services = await openKeyServices(parseConfig(env))
    try {
      return await work(services)
    } finally {
      await services.close()
    }
  }
}
