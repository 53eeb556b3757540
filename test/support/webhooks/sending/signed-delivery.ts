import { Webhook } from 'standardwebhooks'

/** Two valid secrets of an endpoint, in the form of the service. */
export const SECRET = `whsec_${Buffer.alloc(32, 'one').toString('base64')}`
export const OTHER_SECRET = `whsec_${Buffer.alloc(32, 'two').toString('base64')}`

/** A request of the service, as the receiver gets it. */
export interface SignedDelivery {
  headers: Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> &
    Record<string, string>
  body: string
}

export interface SigningOptions {
  secrets?: readonly string[]
  /** Epoch milliseconds of the attempt. */
  nowMs?: number
}

/** Signs a body with the public package `standardwebhooks`, which is no code of this project. */
export function signDelivery(
  id: string,
  body: string,
  { secrets = [SECRET], nowMs = Date.now() }: SigningOptions = {},
): SignedDelivery {
  const at = new Date(nowMs)
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, at, body))
  return {
    headers: {
      'content-type': 'application/json',
      'user-agent': 'public-orders-api-webhooks/0.0.0',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(nowMs / 1000)),
      'webhook-signature': signatures.join(' '),
    },
    body,
  }
}
