import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { InvalidParamError } from '../../../lib/errors/invalid-param-error.ts'
import type { AuditedWebhooks } from '../../../management/audited-webhooks.ts'
import type { ListCursorCodec } from '../../../management/list-cursor.ts'
import type { Endpoint } from '../../../webhooks/endpoints/endpoint.ts'
import { ALL_EVENTS, MAX_OWN_ENDPOINTS } from '../../../webhooks/management/endpoint-settings.ts'
import { NoFields } from '../body.ts'
import { PageParams, parsePage, renderWholeList } from '../list-page.ts'
import { AccountItemParams, AccountParams } from '../path-params.ts'
import { actorOf, authorize, principalOf } from '../principal.ts'
import { CreateEndpoint, UpdateEndpoint } from '../webhook-bodies.ts'
import { createdEndpointObject, endpointObject } from '../webhook-objects.ts'

export interface WebhookEndpointsRoutesOptions {
  webhooks: AuditedWebhooks
  cursors: ListCursorCodec
}

const capability = 'webhooks'
const COLLECTION = '/webhook-endpoints'
const ONE = '/webhook-endpoints/:id'

/** `/v1/accounts/{account}/webhook-endpoints`. */
const webhookEndpointsRoutes: FastifyPluginAsyncTypebox<WebhookEndpointsRoutesOptions> = async (
  app,
  { webhooks, cursors },
) => {
  app.post(COLLECTION, { schema: { params: AccountParams } }, async (request, reply) => {
    const { account: accountId } = request.params
    authorize(request, { accountId, capability })
    const { url, events = [ALL_EVENTS], ...body } = CreateEndpoint.parse(request.body)
    const { payload = 'full', description = null, test: isTest = false } = body
    const given = { accountId, isTest, url, events, payload, description }
    const isOwner = principalOf(request).accountId !== null
    const created = await webhooks.createEndpoint(
      actorOf(request),
      { ...given, ...(isOwner && { atMost: MAX_OWN_ENDPOINTS }) },
      request.idempotencyClaim?.requestId,
    )
    return reply.code(201).send(createdEndpointObject(created))
  })

  const schema = { params: AccountParams, querystring: PageParams }
  app.get(COLLECTION, { schema }, async (request) => {
    const { account: accountId } = request.params
    authorize(request, { accountId, capability })
    const page = parsePage(request.query, `webhook-endpoints ${accountId}`, cursors)
    const endpoints = await webhooks.listEndpoints(accountId)
    const positionOf = ({ createdAt, id }: Endpoint) => [createdAt, id]
    return renderWholeList(endpoints, page, endpointObject, positionOf)
  })

  app.get(ONE, { schema: { params: AccountItemParams } }, async (request) => {
    const { account: accountId, id } = request.params
    authorize(request, { accountId, capability })
    return endpointObject(await webhooks.showEndpoint({ id, accountId }))
  })

  app.patch(ONE, { schema: { params: AccountItemParams } }, async (request) => {
    const { account: accountId, id } = request.params
    authorize(request, { accountId, capability })
    const given = UpdateEndpoint.parse(request.body)
    if (Object.keys(given).length === 0) throw new InvalidParamError('body', NOTHING_TO_CHANGE)
    return endpointObject(await webhooks.updateEndpoint(actorOf(request), { id, accountId }, given))
  })

  app.delete(ONE, { schema: { params: AccountItemParams } }, async (request) => {
    const { account: accountId, id } = request.params
    authorize(request, { accountId, capability })
    NoFields.parse(request.body)
    return endpointObject(await webhooks.deleteEndpoint(actorOf(request), { id, accountId }))
  })
}

const NOTHING_TO_CHANGE =
  'Envie ao menos um campo para alterar: url, events, payload ou description.'

export default webhookEndpointsRoutes
