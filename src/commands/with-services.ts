import { type Config, parseConfig } from '../config.ts'
import { openServices, type Services } from '../services.ts'

/** What `main` takes from the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Runs a command on the services of the settings, and closes them whatever happens. */
export type WithServices = <T>(
  work: (services: Services, config: Config) => Promise<T>,
) => Promise<T>

export function createWithServices(env: Environment): WithServices {
  return async (work) => {
    const config = parseConfig(env)
    const services = await openServices(config)
    try {
      return await work(services, config)
    } finally {
      await services.close()
    }
  }
}
