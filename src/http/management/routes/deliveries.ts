import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { InvalidParamError } from '../../../lib/errors/invalid-param-error.ts'
import type { AuditedWebhooks } from '../../../management/audited-webhooks.ts'
import type { ListCursorCodec, ListPosition } from '../../../management/list-cursor.ts'
import {
  type Delivery,
  type DeliveryState,
  deliveryStates,
  FAILED_STATES,
} from '../../../webhooks/deliveries/delivery.ts'
import type { DeliveryPosition } from '../../../webhooks/deliveries/delivery-store.ts'
import { NoFields } from '../body.ts'
import { PageParams, parsePage, renderPage } from '../list-page.ts'
import { AccountItemParams } from '../path-params.ts'
import { actorOf, authorize } from '../principal.ts'
import { deliveryObject } from '../webhook-objects.ts'

export interface DeliveriesRoutesOptions {
  webhooks: Pick<AuditedWebhooks, 'listDeliveries' | 'showDelivery' | 'resend'>
  cursors: ListCursorCodec
}

const capability = 'webhooks'
const Querystring = Type.Object({ state: Type.Optional(Type.String()), ...PageParams.properties })

/** The deliveries of an endpoint, and `/v1/accounts/{account}/deliveries`. */
const deliveriesRoutes: FastifyPluginAsyncTypebox<DeliveriesRoutesOptions> = async (
  app,
  { webhooks, cursors },
) => {
  const list = { params: AccountItemParams, querystring: Querystring }
  app.get('/webhook-endpoints/:id/deliveries', { schema: list }, async (request) => {
    const { account: accountId, id } = request.params
    authorize(request, { accountId, capability })
    const { state, ...params } = request.query
    const states = parseState(state)
    const page = parsePage(params, `deliveries ${accountId} ${id} ${state ?? '*'}`, cursors)
    const deliveries = await webhooks.listDeliveries(
      { id, accountId },
      {
        limit: page.limit + 1,
        ...(states !== undefined && { states }),
        ...(page.after !== null && { after: parsePosition(page.after) }),
      },
    )
    return renderPage(deliveries, page, deliveryObject, positionOf)
  })

  app.get('/deliveries/:id', { schema: { params: AccountItemParams } }, async (request) => {
    const { account: accountId, id } = request.params
    authorize(request, { accountId, capability })
    return deliveryObject(await webhooks.showDelivery({ id, accountId }))
  })

  app.post('/deliveries/:id/resend', { schema: { params: AccountItemParams } }, async (request) => {
    const { account: accountId, id } = request.params
    authorize(request, { accountId, capability })
    NoFields.parse(request.body)
    return deliveryObject(await webhooks.resend(actorOf(request), { id, accountId }))
  })
}

/** `failed` has the meaning of the commands: no attempt follows. */
function parseState(text: string | undefined): readonly DeliveryState[] | undefined {
  if (text === undefined) return undefined
  const state = deliveryStates.find((known) => known === text)
  if (state === 'failed') return FAILED_STATES
  if (state !== undefined) return [state]
  throw new InvalidParamError('state', `Envie um destes valores: ${deliveryStates.join(', ')}.`)
}

const positionOf = ({ id, event }: Delivery): ListPosition => [
  event.recordedAt,
  event.sequence ?? 0,
  id,
]

function parsePosition([recordedAt, sequence, id]: ListPosition): DeliveryPosition {
  return {
    recordedAt: Number(recordedAt),
    sequence: Number(sequence),
    id: String(id),
  }
}

export default deliveriesRoutes
