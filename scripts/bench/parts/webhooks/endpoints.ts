import type { Delivery } from '../../../../src/webhooks/deliveries/delivery.ts'
import { deliveryId } from '../../../../src/webhooks/deliveries/delivery-id.ts'
import type { Endpoint } from '../../../../src/webhooks/endpoints/endpoint.ts'
import type { EventType } from '../../../../src/webhooks/events/event-types.ts'
import { newEndpointId } from '../../../../src/webhooks/management/endpoint-id.ts'
import type { WebhookStores } from '../../../../src/webhooks/webhook-stores.ts'
import { inChunks } from '../../orders/stores.ts'

/** One event for each new order, however many facts its first version announces. */
const EVENTS: readonly EventType[] = ['order.created']
const HOUR_MS = 3_600_000
const INSERTS_IN_FLIGHT = 100
const DELIVERIES_PER_CREATE = 5_000
const EVENT_DIGITS = 24

interface NewEndpoint {
  accountId: string
  url: string
}

/** An enabled endpoint, created an hour ago, that has accepted webhooks since. */
export function newEndpoint({ accountId, url }: NewEndpoint, nowMs = Date.now()): Endpoint {
  return {
    id: newEndpointId(),
    accountId,
    url,
    events: EVENTS,
    payload: 'full',
    description: null,
    disabledReason: null,
    createdAt: nowMs - HOUR_MS,
    startsAt: nowMs - HOUR_MS,
    secret: { kid: 'k1', generation: 1 },
    previousSecret: null,
    failingSince: null,
    lastSuccessAt: nowMs - HOUR_MS / 2,
    isBreakerOpen: false,
    noticesSent: 0,
    deletedAt: null,
  }
}

/** Inserts endpoints, many at a time since each waits for a refresh. */
export async function insertEndpoints(
  { endpoints }: Pick<WebhookStores, 'endpoints'>,
  all: readonly Endpoint[],
): Promise<void> {
  const waiting = all.values()
  async function insertUntilDone(): Promise<void> {
    for (const endpoint of waiting) await endpoints.insert(endpoint)
  }
  await Promise.all(Array.from({ length: INSERTS_IN_FLIGHT }, insertUntilDone))
}

/** A due delivery, as the fan-out of an event creates it. */
export function pendingDelivery(
  { id: endpointId, accountId }: Pick<Endpoint, 'id' | 'accountId'>,
  { serial, orderId, sequence }: { serial: number; orderId: string; sequence: number },
  recordedAt: number,
): Delivery {
  const id = `evt_${`${serial}`.padStart(EVENT_DIGITS, '0')}`
  const type = 'order.updated'
  return {
    id: deliveryId({ id, recordedAt }, endpointId),
    endpointId,
    accountId,
    event: { id, type, accountId, orderId, sequence, recordedAt, change: {} },
    state: 'pending',
    nextAt: recordedAt,
    attempts: [],
    step: 0,
    firstFailedAt: null,
    heldAt: null,
  }
}

/** Stores deliveries directly, many at a time. */
export async function createDeliveries(
  { deliveries }: Pick<WebhookStores, 'deliveries'>,
  all: Iterable<Delivery>,
  signal: AbortSignal,
): Promise<void> {
  for (const chunk of inChunks(all, DELIVERIES_PER_CREATE)) {
    signal.throwIfAborted()
    await deliveries.create(chunk)
  }
}
