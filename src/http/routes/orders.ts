import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { KeyRecord } from '../../auth/key-store.ts'
import { freeOwned } from '../../lib/owned-bytes.ts'
import type { CursorCodec } from '../../orders/cursor.ts'
import { listParamNames, parseListParams } from '../../orders/list-params.ts'
import { createMaskedReader, rejectPersonalFilters } from '../../orders/masked-reader.ts'
import { isOrderId } from '../../orders/order.ts'
import type { OrderStore } from '../../orders/order-store.ts'
import { listOrders } from '../../orders/paging.ts'
import { ApiError } from '../api-error.ts'
import { sendCacheable } from '../conditional-requests.ts'
import { callerOf } from '../plugins/authenticate.ts'
import { handleUnknownParams } from '../unknown-params.ts'
import { AnyQuery, READ_METHODS } from './read-route.ts'

export interface OrdersRoutesOptions {
  store: OrderStore
  cursors: CursorCodec
}

const Params = Type.Object({ id: Type.String() })

/** `GET /v1/orders` and `GET /v1/orders/{id}`. */
const ordersRoutes: FastifyPluginAsyncTypebox<OrdersRoutesOptions> = async (app, options) => {
  const { store, cursors } = options
  const masked = createMaskedReader(store)

  app.route({
    method: READ_METHODS,
    url: '/orders',
    schema: { querystring: AnyQuery },
    async handler(request, reply) {
      handleUnknownParams(request, reply, listParamNames)
      const { accountId, key } = callerOf(request)
      const isMasked = isMaskedKey(key)
      if (isMasked) rejectPersonalFilters(request.query)
      const params = parseListParams(request.query)
      const reader = { store: isMasked ? masked : store, cursors }
      const { json, digest } = await listOrders(reader, accountId, params, request.scope)
      request.scope.onRelease(() => freeOwned(json))
      return sendCacheable(request, reply, json, digest)
    },
  })

  app.route({
    method: READ_METHODS,
    url: '/orders/:id',
    schema: { params: Params, querystring: AnyQuery },
    async handler(request, reply) {
      handleUnknownParams(request, reply, [])
      const { id } = request.params
      const { accountId, key } = callerOf(request)
      const reader = isMaskedKey(key) ? masked : store
      const order = isOrderId(id) ? await reader.get(accountId, id, request.scope) : null
      if (order === null) throw new ApiError('resource_missing')
      return sendCacheable(request, reply, order)
    },
  })
}

const isMaskedKey = ({ scopes }: KeyRecord) => scopes.includes('orders:read_masked')

export default ordersRoutes
