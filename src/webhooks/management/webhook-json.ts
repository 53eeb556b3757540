import { isSandbox, liveAccountOf } from '../../auth/account-ids.ts'
import { formatInstant, formatInstantOrNull } from '../../lib/instant.ts'
import type { Delivery } from '../deliveries/delivery.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { EnabledEndpoint, RolledSecret } from './endpoint-actions.ts'
import { ALL_EVENTS } from './endpoint-settings.ts'
import type { WebhookStatus } from './webhook-management.ts'

// The shapes that commands print and the management API returns.

/** An endpoint without its secret. */
export function endpointJson(endpoint: Endpoint) {
  return {
    ...settingsJson(endpoint),
    starts_at: formatInstant(endpoint.startsAt),
    failing_since: formatInstantOrNull(endpoint.failingSince),
    disabled_reason: endpoint.disabledReason,
  }
}

/** An endpoint that was enabled, and the first failure before it. */
export function enabledEndpointJson({
  endpoint,
  failedSince,
}: Pick<EnabledEndpoint, 'endpoint' | 'failedSince'>) {
  return { ...endpointJson(endpoint), failed_since: formatInstantOrNull(failedSince) }
}

/** A new endpoint, and its secret, which appears only here. */
export function createdEndpointJson(endpoint: Endpoint, secret: string) {
  return { ...settingsJson(endpoint), secret, starts_at: formatInstant(endpoint.startsAt) }
}

export function rolledSecretJson({ secret, oldSecretEndsAt }: RolledSecret) {
  return { secret, old_secret_ends_at: formatInstant(oldSecretEndsAt) }
}

function settingsJson(endpoint: Endpoint) {
  return {
    id: endpoint.id,
    account_id: liveAccountOf(endpoint.accountId),
    test: isSandbox(endpoint.accountId),
    url: endpoint.url,
    events: endpoint.events ?? [ALL_EVENTS],
    payload: endpoint.payload,
    status: endpoint.disabledReason === null ? 'enabled' : 'disabled',
    description: endpoint.description,
  }
}

export function deliveryJson({ id, event, state, nextAt, attempts }: Delivery) {
  return {
    id,
    event_id: event.id,
    type: event.type,
    order_id: event.orderId,
    sequence: event.sequence,
    state,
    next_at: formatInstantOrNull(nextAt),
    attempts: attempts.map(({ at, status, error, durationMs }) => ({
      at: formatInstant(at),
      status,
      error,
      duration_ms: durationMs,
    })),
  }
}

/** The age of the oldest due delivery in seconds; `null` without one. */
export function statusJson({ dispatcher, backlog, endpoints, readAt }: WebhookStatus) {
  const { due, oldestDueAt } = backlog
  return {
    dispatcher,
    due,
    oldest_due_seconds: oldestDueAt === null ? null : Math.max(0, readAt - oldestDueAt) / 1_000,
    endpoints,
  }
}
