import { LRUCache } from 'lru-cache'
import { hmacSha256 } from '../../lib/secrets/hmac.ts'
import type { NamedSecret } from '../../lib/secrets/named-secret.ts'
import type { Endpoint, SecretVersion } from '../endpoints/endpoint.ts'
import { deriveSecret, hasEntry, secretBytes, signingSecrets } from './signing-secret.ts'

export interface SignedMessage {
  /** The id of the event, the same in every attempt. */
  id: string
  /** When the attempt starts, epoch milliseconds. */
  sentAtMs: number
  /** The bytes of the body, exactly as they are sent. */
  body: Uint8Array
}

/** The headers of https://www.standardwebhooks.com. */
export type SignatureHeaders = Record<
  'webhook-id' | 'webhook-timestamp' | 'webhook-signature',
  string
>

/** Signs with each key, in the order of the keys. The receiver accepts any of the signatures. */
export function signatureHeaders(
  { id, sentAtMs, body }: SignedMessage,
  keys: readonly Uint8Array[],
): SignatureHeaders {
  const timestamp = `${Math.floor(sentAtMs / 1_000)}`
  const prefix = `${id}.${timestamp}.`
  const signatures = keys.map((key) => `v1,${hmacSha256(key, prefix, body).toString('base64')}`)
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}

/**
 * Signs a message to an endpoint.
 * @throws Error naming WEBHOOK_SECRETS when the entry of the current secret is not configured
 */
export type Signer = (
  endpoint: Pick<Endpoint, 'id' | 'secret' | 'previousSecret'>,
  message: SignedMessage,
) => SignatureHeaders

/** Keys of this many endpoints stay in memory. */
const MAX_CACHED_KEYS = 10_000

/** Signs messages to endpoints. During a roll of the secret, the previous one signs too. */
export function createSigner(secrets: readonly NamedSecret[]): Signer {
  const keys = new LRUCache<string, Uint8Array>({ max: MAX_CACHED_KEYS })

  function keyOf(endpointId: string, version: SecretVersion): Uint8Array {
    const name = `${endpointId} ${version.kid} ${version.generation}`
    const cached = keys.get(name)
    if (cached !== undefined) return cached
    const key = secretBytes(deriveSecret(secrets, endpointId, version))
    keys.set(name, key)
    return key
  }

  return (endpoint, message) => {
    // A roll repairs an endpoint whose entry is lost: the previous secret may be of that entry.
    const versions = signingSecrets(endpoint, message.sentAtMs).filter(
      (version) => version === endpoint.secret || hasEntry(secrets, version),
    )
    return signatureHeaders(
      message,
      versions.map((version) => keyOf(endpoint.id, version)),
    )
  }
}
