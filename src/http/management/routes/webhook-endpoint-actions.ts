import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { toEpochMs } from '../../../lib/instant.ts'
import type { Actor } from '../../../management/audit/audit-entry.ts'
import type { AuditedWebhooks } from '../../../management/audited-webhooks.ts'
import { rolledSecretJson } from '../../../webhooks/management/webhook-json.ts'
import { NoFields, overlapMsOf } from '../body.ts'
import { AccountItemParams } from '../path-params.ts'
import { actorOf, authorize } from '../principal.ts'
import { Replay, RollSecret } from '../webhook-bodies.ts'
import { deliveryObject, enabledEndpointObject, endpointObject } from '../webhook-objects.ts'

export interface WebhookEndpointActionsRoutesOptions {
  webhooks: AuditedWebhooks
}

interface Target {
  id: string
  accountId: string
}

/** `POST /v1/accounts/{account}/webhook-endpoints/{id}/{action}`. */
const webhookEndpointActionsRoutes: FastifyPluginAsyncTypebox<
  WebhookEndpointActionsRoutesOptions
> = async (app, { webhooks }) => {
  const schema = { params: AccountItemParams }

  function action(
    name: string,
    run: (
      actor: Actor,
      target: Target,
      body: FastifyRequest['body'],
      requestId: string | undefined,
    ) => Promise<object>,
  ): void {
    app.post(`/webhook-endpoints/:id/${name}`, { schema }, async (request) => {
      const { account: accountId, id } = request.params
      authorize(request, { accountId, capability: 'webhooks' })
      const requestId = request.idempotencyClaim?.requestId
      return run(actorOf(request), { id, accountId }, request.body, requestId)
    })
  }

  action('enable', async (actor, target, body) => {
    NoFields.parse(body)
    return enabledEndpointObject(await webhooks.enableEndpoint(actor, target))
  })
  action('disable', async (actor, target, body) => {
    NoFields.parse(body)
    return endpointObject(await webhooks.disableEndpoint(actor, target))
  })
  action('roll-secret', async (actor, target, body, requestId) => {
    const overlapMs = overlapMsOf(RollSecret.parse(body))
    return rolledSecretJson(await webhooks.rollSecret(actor, target, overlapMs, requestId))
  })
  action('test', async (actor, target, body) => {
    NoFields.parse(body)
    return deliveryObject(await webhooks.sendTest(actor, target))
  })
  action('replay', async (actor, target, body) => {
    const { since, failed: failedOnly = false } = Replay.parse(body)
    const options = { sinceMs: toEpochMs(since), failedOnly }
    return { replayed: await webhooks.replay(actor, target, options) }
  })
}

export default webhookEndpointActionsRoutes
