import { type Clock, monotonicClock } from '../../../lib/clock.ts'
import type { WebhookStores } from '../../../webhooks/webhook-stores.ts'
import type { OpenSearch } from '../client/client.ts'
import type { EnsureIndices } from '../indices/ensure-indices.ts'
import type { IndexNames } from '../indices/index-names.ts'
import { withPreparation } from '../indices/with-preparation.ts'
import { createDamageReport } from './damage-report.ts'
import { createOpenSearchDeliveryStore } from './delivery-store.ts'
import { createOpenSearchDispatcherLease } from './dispatcher-lease.ts'
import { createOpenSearchEndpointStore } from './endpoint-store.ts'
import { createOpenSearchEventFeed, readEventBacklog } from './event-feed.ts'

export interface OpenSearchWebhookStoresOptions {
  client: OpenSearch
  names: IndexNames
  ensureIndices: Pick<EnsureIndices, 'webhooks' | 'dispatcher'>
  /** For each request, in milliseconds; no request of the API waits for one. */
  deadlineMs: number
  /** How long a dispatcher that does not renew its lease keeps it, in milliseconds. */
  leaseMs: number
  /** Milliseconds; the process's own when absent. */
  monotonic?: Clock
}

/**
 * Webhook endpoints, deliveries and event records in a cluster. The first call creates the missing
 * indices of endpoints and deliveries. Searches see a change by another process at the next
 * refresh, 200 ms later at most.
 */
export function createOpenSearchWebhookStores({
  client,
  names,
  ensureIndices,
  deadlineMs,
  leaseMs,
  monotonic = monotonicClock,
}: OpenSearchWebhookStoresOptions): WebhookStores {
  const damage = createDamageReport()
  const reportDamaged = damage.report
  const targetOf = (index: string) => ({ client, index, deadlineMs })
  const records = targetOf(names.eventRecords)
  const lease = createOpenSearchDispatcherLease({
    client,
    index: names.writer,
    deadlineMs,
    leaseMs,
    monotonic,
  })
  const deliveryStore = createOpenSearchDeliveryStore({
    target: targetOf(names.webhookDeliveries),
    reportDamaged,
    oldestOpenRecordAt: async () => (await readEventBacklog(records)).oldestRecordedAt,
  })
  const endpointStore = createOpenSearchEndpointStore({
    target: targetOf(names.webhookEndpoints),
    reportDamaged,
  })
  const deliveries = withPreparation(deliveryStore, ensureIndices.webhooks)

  return {
    endpoints: {
      ...withPreparation(endpointStore, ensureIndices.webhooks),
      changes: endpointStore.changes,
    },
    deliveries,
    events: createOpenSearchEventFeed({
      target: records,
      reportDamaged,
      createDeliveries: deliveries.create,
    }),
    onDamaged: damage.subscribe,
    async acquireLease(options) {
      await ensureIndices.dispatcher() // The lease and the event records are beside the orders.
      await ensureIndices.webhooks()
      return lease.acquire(options)
    },
    dispatcher: (waitMs) => lease.status(waitMs),
  }
}
