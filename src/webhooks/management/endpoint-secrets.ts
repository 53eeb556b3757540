import type { NamedSecrets } from '../../lib/secrets/named-secret.ts'
import { WebhookError } from './webhook-error.ts'

/**
 * Returns the secrets.
 * @throws WebhookError `secrets_missing` that names the setting, and a command that makes a value
 */
export function requireWebhookSecrets(secrets: NamedSecrets | null): NamedSecrets {
  if (secrets !== null) return secrets
  throw new WebhookError(
    'secrets_missing',
    'WEBHOOK_SECRETS is not set, and the secrets of webhook endpoints derive from it: set the value that the other processes have. Where none has one, create it with echo "k$(date +%s):$(openssl rand -base64 32)", and set it for every process',
  )
}

/** The entry of `WEBHOOK_SECRETS` from which new endpoints and rolls derive their secrets. */
export const currentKid = (secrets: NamedSecrets): string => secrets[0].kid
