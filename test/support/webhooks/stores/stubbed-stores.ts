import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import type { WebhookStores } from '../../../../src/webhooks/webhook-stores.ts'

/** Stores of which some calls for deliveries are replaced. */
export function withDeliveries<Stores extends Pick<WebhookStores, 'deliveries'>>(
  stores: Stores,
  changes: Partial<WebhookStores['deliveries']>,
): Stores {
  return { ...stores, deliveries: { ...stores.deliveries, ...changes } }
}

/** Stores of which some calls for endpoints are replaced. */
export function withEndpoints<Stores extends Pick<WebhookStores, 'endpoints'>>(
  stores: Stores,
  changes: Partial<WebhookStores['endpoints']>,
): Stores {
  return { ...stores, endpoints: { ...stores.endpoints, ...changes } }
}

/** Creates a function that throws Unavailable when it is called, this many times. */
export function failTimes(times: number, reason: string): () => void {
  let left = times
  return () => {
    if (left === 0) return
    left -= 1
    throw new Unavailable(reason)
  }
}
