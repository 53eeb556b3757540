import { liveAccountOf } from '../auth/account-ids.ts'
import type { Clock } from '../lib/clock.ts'
import type { RepeatableRequest } from '../webhooks/endpoints/endpoint.ts'
import type { ReplayOptions } from '../webhooks/management/delivery-operations.ts'
import type { NewEndpoint } from '../webhooks/management/endpoint-operations.ts'
import type { EndpointSettings } from '../webhooks/management/endpoint-settings.ts'
import type { Target } from '../webhooks/management/endpoint-target.ts'
import type { WebhookManagement } from '../webhooks/management/webhook-management.ts'
import type { Actor, AuditAction } from './audit/audit-entry.ts'
import type { AuditLog } from './audit/audit-log.ts'
import { IDEMPOTENCY_KEY_TTL_MS } from './idempotency/idempotency.ts'

/** The management of webhooks, for commands and for the management API. */
export type AuditedWebhooks = ReturnType<typeof createAuditedWebhooks>

/**
 * Adds an actor to every change, and the change to the audit log. A target that does not exist has
 * no entry; a change that its state rejects has one, with the outcome `failed`. `clock`: epoch
 * milliseconds. `requestId`: that of the `Idempotency-Key`.
 */
export function createAuditedWebhooks(
  webhooks: WebhookManagement,
  audit: Pick<AuditLog, 'record'>,
  clock: Clock,
) {
  const { listEndpoints, showEndpoint, listDeliveries, showDelivery } = webhooks
  const { listAllEndpoints, awaitAttempt, dispatcher, status } = webhooks

  const repeatable = (requestId: string | undefined): RepeatableRequest | undefined =>
    requestId === undefined
      ? undefined
      : { id: requestId, sinceMs: clock() - IDEMPOTENCY_KEY_TTL_MS }

  /** @throws WebhookError `endpoint_missing`; the errors of the change */
  async function changeEndpoint<T>(
    actor: Actor,
    action: AuditAction,
    target: Target,
    change: () => Promise<T>,
  ): Promise<T> {
    const { id, accountId } = await webhooks.findForChange(target)
    return audit.record(actor, { action, accountId: liveAccountOf(accountId), target: id }, change)
  }

  return {
    ...{ listEndpoints, showEndpoint, listDeliveries, showDelivery },
    ...{ listAllEndpoints, awaitAttempt, dispatcher, status },

    async createEndpoint(actor: Actor, given: Omit<NewEndpoint, 'id'>, requestId?: string) {
      webhooks.assertSecrets() // A service without them makes no entry.
      const id = await webhooks.endpointIdOf(repeatable(requestId))
      const { accountId } = given
      const intent = { action: 'webhook_endpoint.create', accountId, target: id } as const
      return audit.record(actor, intent, () => webhooks.createEndpoint({ ...given, id }))
    },

    updateEndpoint: (actor: Actor, target: Target, given: Partial<EndpointSettings>) =>
      changeEndpoint(actor, 'webhook_endpoint.update', target, () =>
        webhooks.updateEndpoint(target, given),
      ),

    enableEndpoint: (actor: Actor, target: Target) =>
      changeEndpoint(actor, 'webhook_endpoint.enable', target, () =>
        webhooks.enableEndpoint(target),
      ),

    disableEndpoint: (actor: Actor, target: Target) =>
      changeEndpoint(actor, 'webhook_endpoint.disable', target, () =>
        webhooks.disableEndpoint(target),
      ),

    deleteEndpoint: (actor: Actor, target: Target) =>
      changeEndpoint(actor, 'webhook_endpoint.delete', target, () =>
        webhooks.deleteEndpoint(target),
      ),

    async rollSecret(actor: Actor, target: Target, overlapMs: number, requestId?: string) {
      webhooks.assertSecrets()
      return changeEndpoint(actor, 'webhook_endpoint.roll_secret', target, () =>
        webhooks.rollSecret(target, overlapMs, repeatable(requestId)),
      )
    },

    sendTest: (actor: Actor, target: Target) =>
      changeEndpoint(actor, 'webhook_endpoint.test', target, () => webhooks.sendTest(target)),

    replay: (actor: Actor, target: Target, options: ReplayOptions) =>
      changeEndpoint(actor, 'webhook_endpoint.replay', target, () =>
        webhooks.replay(target, options),
      ),

    async resend(actor: Actor, target: Target) {
      const { id, accountId: ownerId } = await showDelivery(target)
      const accountId = liveAccountOf(ownerId)
      const intent = { action: 'delivery.resend', accountId, target: id } as const
      return audit.record(actor, intent, () => webhooks.resend(target))
    },
  }
}
