import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { ApiError } from '../errors.ts'
import type { CursorCodec } from '../orders/cursor.ts'
import { listOrders } from '../orders/list-orders.ts'
import { listParamNames, parseListParams } from '../orders/list-params.ts'
import { orderIdPattern } from '../orders/order.ts'
import type { OrderStore } from '../orders/order-store.ts'
import { callerOf } from './caller.ts'
import { JSON_TYPE } from './headers.ts'
import { tellIgnored } from './ignored-params.ts'

export interface OrdersRoutesOptions {
  store: OrderStore
  cursors: CursorCodec
}

// Nothing is coerced or refused here: `parseListParams` does that, with messages that help.
const Querystring = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Array(Type.String())]),
)
const Params = Type.Object({ id: Type.String() })
const ORDER_ID = new RegExp(orderIdPattern)

/** The two routes (contract, "Endpoints"). */
const ordersRoutes: FastifyPluginAsyncTypebox<OrdersRoutesOptions> = async (app, options) => {
  app.get('/orders', { schema: { querystring: Querystring } }, async (request, reply) => {
    tellIgnored(reply, request.query, listParamNames)
    const params = parseListParams(request.query)
    const page = await listOrders(options, callerOf(request).accountId, params)
    return reply.type(JSON_TYPE).send(page)
  })

  const one = { params: Params, querystring: Querystring }
  app.get('/orders/:id', { schema: one }, async (request, reply) => {
    tellIgnored(reply, request.query, [])
    const { id } = request.params
    const { accountId } = callerOf(request)
    const order = ORDER_ID.test(id) ? await options.store.get(accountId, id) : null
    if (order === null) throw new ApiError('resource_missing')
    return reply.type(JSON_TYPE).send(order)
  })
}

export default ordersRoutes
