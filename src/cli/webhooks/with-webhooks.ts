import type { Config } from '../../config/config.ts'
import { wallClock } from '../../lib/clock.ts'
import type { AuditedWebhooks } from '../../management/audited-webhooks.ts'
import { createManagement } from '../../management/management.ts'
import type { WithServices } from '../with-services.ts'
import { webhookSettings } from './webhook-settings.ts'

/** As `WithServices`, with the management of webhooks. */
export type WithWebhooks = <T>(
  work: (webhooks: AuditedWebhooks, config: Config) => Promise<T>,
) => Promise<T>

/** Returns a {@link WithWebhooks} for the settings of `withServices`. */
export function createWithWebhooks(withServices: WithServices): WithWebhooks {
  return (work) =>
    withServices((services, config) => {
      const settings = webhookSettings(services, config)
      const management = createManagement({
        ...services,
        webhookSettings: settings,
        clock: wallClock,
      })
      return work(management.webhooks, config)
    })
}
