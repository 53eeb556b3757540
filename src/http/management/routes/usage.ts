import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Clock } from '../../../lib/clock.ts'
import { InvalidParamError } from '../../../lib/errors/invalid-param-error.ts'
import { accountUsage } from '../../../management/usage/account-usage.ts'
import { dayBefore, dayOf, isDay } from '../../../management/usage/usage-day.ts'
import { usageJson } from '../../../management/usage/usage-json.ts'
import type { UsageStore } from '../../../management/usage/usage-store.ts'
import { AccountParams } from '../path-params.ts'
import { authorize } from '../principal.ts'

export interface UsageRoutesOptions {
  usage: Pick<UsageStore, 'list'>
  /** Epoch milliseconds. */
  clock: Clock
}

const Querystring = Type.Object({
  by: Type.Optional(Type.String()),
  from: Type.Optional(Type.String()),
  to: Type.Optional(Type.String()),
})
export const DEFAULT_DAYS = 30
export const MAX_DAYS = 366

/** `GET /v1/accounts/{account}/usage`. */
const usageRoutes: FastifyPluginAsyncTypebox<UsageRoutesOptions> = async (
  app,
  { usage, clock },
) => {
  const schema = { params: AccountParams, querystring: Querystring }
  app.get('/usage', { schema }, async (request) => {
    const { account: accountId } = request.params
    authorize(request, { accountId, capability: 'usage' })
    const { by = 'key' } = request.query
    if (by !== 'key') throw new InvalidParamError('by', 'Envie em by o único valor aceito: key.')
    return usageJson(await accountUsage(usage, { accountId, ...parseDays(request.query, clock()) }))
  })
}

/** The days of a report, inclusive. Without a start, the last 30. Pure. */
function parseDays({ from, to }: { from?: string; to?: string }, nowMs: number) {
  const toDay = to === undefined ? dayOf(nowMs) : parseDay('to', to)
  const toMs = Date.parse(toDay)
  const fromDay = from === undefined ? dayBefore(toMs, DEFAULT_DAYS - 1) : parseDay('from', from)
  if (fromDay > toDay) throw new InvalidParamError('from', 'O dia from vem depois do dia to.')
  if (fromDay <= dayBefore(toMs, MAX_DAYS)) {
    throw new InvalidParamError('from', `Peça no máximo ${MAX_DAYS} dias por vez.`)
  }
  return { fromDay, toDay }
}

function parseDay(name: string, text: string): string {
  if (isDay(text)) return text
  throw new InvalidParamError(name, `Envie em ${name} um dia em UTC, como 2026-11-01.`)
}

export default usageRoutes
