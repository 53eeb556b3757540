import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { CursorCodec } from '../../orders/cursor.ts'
import { listParamNames, parseListParams } from '../../orders/list-params.ts'
import { orderIdPattern } from '../../orders/order.ts'
import type { OrderStore } from '../../orders/order-store.ts'
import { listOrders } from '../../orders/paging.ts'
import { ApiError } from '../api-error.ts'
import { callerOf } from '../plugins/authenticate.ts'
import { sendCacheable } from '../plugins/conditional.ts'
import { handleUnknownParams } from '../unknown-params.ts'

export interface OrdersRoutesOptions {
  store: OrderStore
  cursors: CursorCodec
}

// Accepts any query: `parseListParams` validates it, with messages that say how to correct it.
const Querystring = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Array(Type.String())]),
)
const Params = Type.Object({ id: Type.String() })
const ORDER_ID = new RegExp(orderIdPattern)
// HEAD is listed, because Fastify's automatic HEAD route sends a 304 with Content-Length: 0.
const READ_METHODS = ['GET', 'HEAD']

/** `GET /v1/orders` and `GET /v1/orders/{id}`. */
const ordersRoutes: FastifyPluginAsyncTypebox<OrdersRoutesOptions> = async (app, options) => {
  app.route({
    method: READ_METHODS,
    url: '/orders',
    schema: { querystring: Querystring },
    async handler(request, reply) {
      handleUnknownParams(request, reply, listParamNames)
      const params = parseListParams(request.query)
      const page = await listOrders(options, callerOf(request).accountId, params, request.scope)
      return sendCacheable(request, reply, page)
    },
  })

  app.route({
    method: READ_METHODS,
    url: '/orders/:id',
    schema: { params: Params, querystring: Querystring },
    async handler(request, reply) {
      handleUnknownParams(request, reply, [])
      const { id } = request.params
      const { accountId } = callerOf(request)
      const isId = ORDER_ID.test(id)
      const order = isId ? await options.store.get(accountId, id, request.scope) : null
      if (order === null) throw new ApiError('resource_missing')
      return sendCacheable(request, reply, order)
    },
  })
}

export default ordersRoutes
