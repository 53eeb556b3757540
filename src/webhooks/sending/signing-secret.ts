import { hmacSha256 } from '../../lib/secrets/hmac.ts'
import type { NamedSecret } from '../../lib/secrets/named-secret.ts'
import type { Endpoint, SecretVersion } from '../endpoints/endpoint.ts'

/** The prefix of Standard Webhooks. */
const PREFIX = 'whsec_'

/**
 * The secret of an endpoint as its receiver configures it: `whsec_` and 32 bytes in base64. It is
 * derived, so nothing secret is stored.
 * @throws Error naming WEBHOOK_SECRETS when the entry is not configured
 */
export function deriveSecret(
  secrets: readonly NamedSecret[],
  endpointId: string,
  { kid, generation }: SecretVersion,
): string {
  const entry = secrets.find((secret) => secret.kid === kid)
  if (entry === undefined) {
    throw new Error(
      `cannot sign webhooks of ${endpointId}: WEBHOOK_SECRETS has no entry "${kid}". Add the entry again, or roll the endpoint's secret`,
    )
  }
  return PREFIX + hmacSha256(entry.secret, `${endpointId}:${generation}`).toString('base64')
}

/** Whether {@link deriveSecret} can derive this version: its entry is configured. */
export function hasEntry(secrets: readonly NamedSecret[], { kid }: SecretVersion): boolean {
  return secrets.some((secret) => secret.kid === kid)
}

/** The bytes that sign, of a secret from {@link deriveSecret}. */
export function secretBytes(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64')
}

/** The versions that sign at an instant, the current one first. `nowMs`: epoch milliseconds. */
export function signingSecrets(
  { secret, previousSecret }: Pick<Endpoint, 'secret' | 'previousSecret'>,
  nowMs: number,
): SecretVersion[] {
  return previousSecret !== null && nowMs < previousSecret.endsAt
    ? [secret, previousSecret]
    : [secret]
}
