import { beforeEach, expect } from 'vitest'
import { DAY_MS } from '../../../../src/lib/durations.ts'
import type { NamedSecrets } from '../../../../src/lib/secrets/named-secret.ts'
import type { Services } from '../../../../src/services.ts'
import type { Delivery } from '../../../../src/webhooks/deliveries/delivery.ts'
import type { Endpoint } from '../../../../src/webhooks/endpoints/endpoint.ts'
import { requireWebhookSecrets } from '../../../../src/webhooks/management/endpoint-secrets.ts'
import {
  createWebhookManagement,
  type WebhookManagement,
} from '../../../../src/webhooks/management/webhook-management.ts'
import { useServices } from '../../../support/stores/use-services.ts'
import { delivery } from '../../../support/webhooks/delivery.ts'

export const NOW = Date.parse('2026-03-01T12:00:00Z')

/** The health of an endpoint. */
export const failing = { failingSince: NOW - DAY_MS, isBreakerOpen: true, noticesSent: 2 }
export const healthy = { failingSince: null, isBreakerOpen: false, noticesSent: 0 }

export const withCode = (code: string) => expect.objectContaining({ code })

export const settings = {
  accountId: 'acc_1',
  url: 'https://receiver.example/hooks',
  events: ['*'],
  payload: 'full',
  description: null,
}

/** The management on embedded stores, which are opened before each test of the file. */
export interface EachTestManagement {
  readonly management: WebhookManagement
  readonly services: Services
  readonly secrets: NamedSecrets
  /** Writes source orders. */
  write(...sources: readonly object[]): Promise<unknown>
  /** Sets the clock, epoch milliseconds. */
  setNow(ms: number): void
  /** Creates an endpoint of `acc_1`, then changes it in the store. */
  endpoint(changes?: Partial<Endpoint>): Promise<Endpoint>
  /** The endpoint as stored. */
  stored(id: string): Promise<Endpoint | null>
  /** Stores a delivery of the endpoint. */
  deliver(endpoint: Endpoint, changes?: Parameters<typeof delivery>[0]): Promise<Delivery>
  /** The delivery as stored. */
  delivery(id: string): Promise<Delivery | null>
  /** Whether a dispatcher that read `token` would read the endpoint again. */
  changesSince(token: string | null): Promise<{ ids: string[]; token: string }>
}

/** Registers the hooks of {@link EachTestManagement}. */
export function useManagement(): EachTestManagement {
  const stores = useServices()
  let management: WebhookManagement
  let now = NOW

  beforeEach(() => {
    now = NOW
    const { webhooks, orders, webhookSecrets } = stores.services
    management = createWebhookManagement({
      webhooks,
      orders,
      secrets: () => requireWebhookSecrets(webhookSecrets),
      allow: [],
      retentionMs: 30 * DAY_MS,
      clock: () => now,
    })
  })

  return {
    get management() {
      return management
    },
    get services() {
      return stores.services
    },
    get secrets() {
      return requireWebhookSecrets(stores.services.webhookSecrets)
    },
    write: stores.write,
    setNow(ms) {
      now = ms
    },
    async endpoint(changes = {}) {
      const { endpoint } = await management.createEndpoint(settings)
      const { endpoints } = stores.services.webhooks
      return (await endpoints.update(endpoint.id, (made) => ({ ...made, ...changes }))) ?? endpoint
    },
    stored: (id) => stores.services.webhooks.endpoints.byId(id),
    async deliver({ id: endpointId, accountId }, changes = {}) {
      const { event, ...rest } = changes
      const made = delivery({ endpointId, accountId, event: { accountId, ...event }, ...rest })
      await stores.services.webhooks.deliveries.create([made])
      return made
    },
    async delivery(id) {
      const found = await stores.services.webhooks.deliveries.byId(id)
      if (found === null) return null
      const { revision: _, ...rest } = found
      return rest
    },
    async changesSince(token) {
      const changes = await stores.services.webhooks.endpoints.changes(token)
      return { ids: changes.endpoints.map(({ id }) => id), token: changes.token }
    },
  }
}
