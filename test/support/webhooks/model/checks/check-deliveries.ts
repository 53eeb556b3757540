import type { Delivery } from '../../../../../src/webhooks/deliveries/delivery.ts'
import type { Endpoint } from '../../../../../src/webhooks/endpoints/endpoint.ts'
import type { WebhookStores } from '../../../../../src/webhooks/webhook-stores.ts'
import type { DeliveryLog, KnownEvent } from '../delivering/delivery-log.ts'
import {
  type EndpointHistory,
  endpointsAround,
  type ModelEndpoint,
  STALE_MS,
} from '../delivering/endpoint-history.ts'
import type { Violations } from './violation.ts'

export interface DeliveredWalk {
  log: DeliveryLog
  endpoints: EndpointHistory
  webhooks: Pick<WebhookStores, 'deliveries' | 'endpoints'>
  violations: Violations
}

const MANY = 10_000

/** Invariants 4 and 10 at rest: the stored deliveries of every endpoint. */
export async function checkDeliveries(walk: DeliveredWalk): Promise<void> {
  const { endpoints, webhooks, log, violations } = walk
  for (const model of endpoints.all()) {
    const stored = await webhooks.deliveries.list({ endpointId: model.id, limit: MANY })
    const byEvent = Map.groupBy(stored, ({ event }) => event.id)
    for (const event of log.events.values()) {
      checkCount(walk, model, event, byEvent.get(event.id)?.length ?? 0)
    }
    const endpoint = await webhooks.endpoints.byId(model.id)
    for (const delivery of stored) {
      const problem = problemOf(delivery, endpoint, log)
      if (problem !== null) violations.add(4, delivery.event.orderId ?? '', problem)
      checkForgotten(walk, delivery)
    }
  }
}

/** Exactly one for each event and matching endpoint. */
function checkCount(
  { violations }: DeliveredWalk,
  model: ModelEndpoint,
  { id, type, accountId, orderId, sequence, recordedAt, fannedOutAt }: KnownEvent,
  count: number,
): void {
  if (accountId !== model.accountId) return
  const until = fannedOutAt ?? Number.POSITIVE_INFINITY
  const settings = endpointsAround(model, until - STALE_MS, until)
  const isMatch = (endpoint: Endpoint | null) =>
    endpoint !== null && (endpoint.events?.includes(type) ?? true)
  const isPast = (endpoint: Endpoint | null) => endpoint !== null && recordedAt >= endpoint.startsAt
  const isRequired = settings.every((endpoint) => isMatch(endpoint) && isPast(endpoint))
  const isAllowed = settings.some(isMatch)
  const name = `${sequence} ${type} ${id.slice(0, 8)} has ${count} deliveries to ${model.id.slice(0, 7)}`
  if (count > 1) violations.add(4, orderId, name)
  if (count === 0 && isRequired) violations.add(4, orderId, name)
  if (count > 0 && !isAllowed) violations.add(4, orderId, `${name}, which does not want it`)
}

/** Why a delivery must not end like this; `null` when it may. */
function problemOf(
  { id, state, attempts, heldAt, accountId, event }: Delivery,
  endpoint: Endpoint | null,
  log: DeliveryLog,
): string | null {
  const last = attempts.at(-1)
  const isRemoved = (event.sequence ?? 0) < log.removedBefore(accountId, event.orderId ?? '')
  const isExpected = {
    pending: false,
    delivered: last?.error === null,
    failed: last?.status === 410,
    held: endpoint !== null && endpoint.disabledReason !== null,
    canceled: endpoint === null || isRemoved || log.wasMissing(accountId, event.orderId ?? ''),
    expired: last !== undefined || heldAt !== null,
  }[state]
  return isExpected ? null : `delivery ${id} of ${event.sequence} ${event.type} ends ${state}`
}

/** Nothing but the id of an order stays of what was before its removal. */
function checkForgotten({ log, violations }: DeliveredWalk, delivery: Delivery): void {
  const { accountId, event, attempts } = delivery
  if ((event.sequence ?? 0) >= log.removedBefore(accountId, event.orderId ?? '')) return
  const isKept = Object.keys(event.change).length > 0 || attempts.some(({ excerpt }) => excerpt)
  if (isKept) violations.add(10, event.orderId ?? '', `${delivery.id} keeps what was removed`)
}
