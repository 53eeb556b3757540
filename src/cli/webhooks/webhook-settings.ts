import type { Config } from '../../config/config.ts'
import type { WebhookSettings } from '../../management/management.ts'
import type { Services } from '../../services.ts'
import { requireWebhookSecrets } from '../../webhooks/management/endpoint-secrets.ts'

/** The settings of the management of webhooks. */
export function webhookSettings(
  { webhookSecrets }: Pick<Services, 'webhookSecrets'>,
  { webhooks: { allow, retentionMs } }: Pick<Config, 'webhooks'>,
): WebhookSettings {
  return { secrets: () => requireWebhookSecrets(webhookSecrets), allow, retentionMs }
}
