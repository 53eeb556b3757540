import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { CursorCodec } from '../../../orders/cursor.ts'
import { parseListParams } from '../../../orders/list-params.ts'
import type { OrderStore } from '../../../orders/order-store.ts'
import { listOrders } from '../../../orders/paging.ts'
import { JSON_TYPE } from '../../headers.ts'
import { AccountParams } from '../../management/path-params.ts'
import { authorize } from '../../management/principal.ts'

export interface LatestOrdersOptions {
  store: OrderStore
  cursors: CursorCodec
}

const LATEST = parseListParams({ limit: '20' })

/** `GET /v1/accounts/{account}/orders`: the latest 20, in the public API's envelope. */
const latestOrders: FastifyPluginAsyncTypebox<LatestOrdersOptions> = async (app, options) => {
  app.get('/orders', { schema: { params: AccountParams } }, async (request, reply) => {
    const { account: accountId } = request.params
    authorize(request, { accountId, capability: 'orders' })
    const { json } = await listOrders(options, accountId, LATEST)
    return reply.type(JSON_TYPE).send(json)
  })
}

export default latestOrders
