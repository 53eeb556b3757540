import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { isAccountId } from '../../../auth/account-ids.ts'
import { InvalidParamError } from '../../../lib/errors/invalid-param-error.ts'
import { auditEntryJson } from '../../../management/audit/audit-json.ts'
import type { AuditLog } from '../../../management/audit/audit-log.ts'
import type { ListCursorCodec } from '../../../management/list-cursor.ts'
import { PageParams, parsePage, renderPage } from '../list-page.ts'
import { authorize } from '../principal.ts'

export interface AuditRoutesOptions {
  audit: Pick<AuditLog, 'list'>
  cursors: ListCursorCodec
}

const Querystring = Type.Object({
  account_id: Type.Optional(Type.String()),
  ...PageParams.properties,
})

const INVALID_ACCOUNT =
  'Envie em account_id o id de uma conta: 1 a 64 letras, dígitos, "_" ou "-". Sem account_id, a lista tem as mudanças de todas.'

/** `GET /v1/audit`. */
const auditRoutes: FastifyPluginAsyncTypebox<AuditRoutesOptions> = async (app, options) => {
  const { audit, cursors } = options

  app.get('/audit', { schema: { querystring: Querystring } }, async (request) => {
    const { account_id: accountId, ...params } = request.query
    authorize(request, { accountId: accountId ?? null })
    if (accountId !== undefined && !isAccountId(accountId)) {
      throw new InvalidParamError('account_id', INVALID_ACCOUNT)
    }
    const page = parsePage(params, `audit ${accountId ?? '*'}`, cursors)
    const [at, id] = page.after ?? []
    const after = page.after === null ? null : { at: Number(at), id: String(id) }
    const filter = accountId === undefined ? {} : { accountId }
    const entries = await audit.list({ ...filter, limit: page.limit + 1, after })
    return renderPage(entries, page, auditEntryJson, ({ at, id }) => [at, id])
  })
}

export default auditRoutes
