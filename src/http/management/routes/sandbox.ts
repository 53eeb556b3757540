import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { ListCursorCodec } from '../../../management/list-cursor.ts'
import { sandboxOrderJson } from '../../../management/sandbox/sandbox-json.ts'
import {
  isSandboxMove,
  type SandboxManagement,
} from '../../../management/sandbox/sandbox-management.ts'
import { sandboxScenarios, scenarioJson } from '../../../management/sandbox/sandbox-scenarios.ts'
import { defineBody, NoFields } from '../body.ts'
import { PageParams, parsePage, renderPage } from '../list-page.ts'
import { AccountItemParams, AccountParams } from '../path-params.ts'
import { actorOf, authorize, principalOf } from '../principal.ts'

export interface SandboxRoutesOptions {
  sandbox: SandboxManagement
  cursors: ListCursorCodec
}

const capability = 'orders'
export const CreateSandboxOrder = defineBody(
  Type.Object({
    scenario: Type.Union(
      sandboxScenarios.map(({ id }) => Type.Literal(id)),
      { expected: 'um id de GET /v1/sandbox-scenarios' },
    ),
  }),
)
const MoveParams = Type.Object({ ...AccountItemParams.properties, move: Type.String() })

/** `/v1/sandbox-scenarios` and `/v1/accounts/{account}/sandbox-orders`. */
const sandboxRoutes: FastifyPluginAsyncTypebox<SandboxRoutesOptions> = async (app, options) => {
  const { sandbox, cursors } = options

  app.get('/sandbox-scenarios', async (request) => {
    const { accountId } = principalOf(request)
    authorize(request, { accountId, capability })
    const data = sandbox.scenarios.map(scenarioJson)
    return { object: 'list', data, has_more: false, next_cursor: null }
  })

  const url = '/accounts/:account/sandbox-orders'

  app.get(url, { schema: { params: AccountParams, querystring: PageParams } }, async (request) => {
    const { account: accountId } = request.params
    authorize(request, { accountId, capability })
    const page = parsePage(request.query, `sandbox-orders ${accountId}`, cursors)
    const [madeAt, orderId] = page.after ?? []
    const after = page.after === null ? null : { madeAt: Number(madeAt), orderId: String(orderId) }
    const orders = await sandbox.list({ accountId, limit: page.limit + 1, after })
    return renderPage(orders, page, sandboxOrderJson, ({ madeAt, orderId }) => [madeAt, orderId])
  })

  app.post(url, { schema: { params: AccountParams } }, async (request, reply) => {
    const { account: accountId } = request.params
    authorize(request, { accountId, capability })
    const { scenario } = CreateSandboxOrder.parse(request.body)
    const requestId = request.idempotencyClaim?.requestId
    const order = await sandbox.create(actorOf(request), { accountId, scenario }, requestId)
    return reply.code(201).send(sandboxOrderJson(order))
  })

  app.post(`${url}/:id/:move`, { schema: { params: MoveParams } }, async (request) => {
    const { account: accountId, id: orderId, move } = request.params
    authorize(request, { accountId, capability })
    if (!isSandboxMove(move)) return app.throwNotFound()
    NoFields.parse(request.body)
    const target = { accountId, orderId }
    const requestId = request.idempotencyClaim?.requestId
    return sandboxOrderJson(await sandbox.move(actorOf(request), target, move, requestId))
  })
}

export default sandboxRoutes
