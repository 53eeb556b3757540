import type { Config } from '../../config/config.ts'
import { requireWebhookSecrets } from '../../config/secrets.ts'
import { wallClock } from '../../lib/clock.ts'
import {
  createWebhookManagement,
  type WebhookManagement,
} from '../../webhooks/management/webhook-management.ts'
import type { WithServices } from '../with-services.ts'

/** As `WithServices`, with the management of webhooks. */
export type WithWebhooks = <T>(
  work: (webhooks: WebhookManagement, config: Config) => Promise<T>,
) => Promise<T>

/** Returns a {@link WithWebhooks} for the settings of `withServices`. */
export function createWithWebhooks(withServices: WithServices): WithWebhooks {
  return (work) =>
    withServices(({ webhooks, orders, webhookSecrets }, config) => {
      const { allow, retentionMs } = config.webhooks
      const secrets = () => requireWebhookSecrets(webhookSecrets)
      const options = { webhooks, orders, secrets, allow, retentionMs, clock: wallClock }
      return work(createWebhookManagement(options), config)
    })
}
