import type { Config } from '../../config/config.ts'
import { wallClock } from '../../lib/clock.ts'
import { createAuditLog } from '../../management/audit/audit-log.ts'
import { type AuditedWebhooks, createAuditedWebhooks } from '../../management/audited-webhooks.ts'
import type { WebhookSettings } from '../../management/management.ts'
import type { Services } from '../../services.ts'
import { requireWebhookSecrets } from '../../webhooks/management/endpoint-secrets.ts'
import { createWebhookManagement } from '../../webhooks/management/webhook-management.ts'
import type { WithServices } from '../with-services.ts'

/** As `WithServices`, with the management of webhooks. */
export type WithWebhooks = <T>(
  work: (webhooks: AuditedWebhooks, config: Config) => Promise<T>,
) => Promise<T>

/** Returns a {@link WithWebhooks} for the settings of `withServices`. */
export function createWithWebhooks(withServices: WithServices): WithWebhooks {
  return (work) =>
    withServices((services, config) => {
      const { webhooks, orders, managementStores } = services
      const settings = webhookSettings(services, config)
      const options = { webhooks, orders, ...settings, clock: wallClock }
      const audit = createAuditLog(managementStores.audit, wallClock)
      const management = createWebhookManagement(options)
      return work(createAuditedWebhooks(management, audit, wallClock), config)
    })
}

/** The settings of the management of webhooks. */
export function webhookSettings(
  { webhookSecrets }: Pick<Services, 'webhookSecrets'>,
  { webhooks: { allow, retentionMs } }: Pick<Config, 'webhooks'>,
): WebhookSettings {
  return { secrets: () => requireWebhookSecrets(webhookSecrets), allow, retentionMs }
}
