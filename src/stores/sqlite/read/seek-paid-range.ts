import { filterConditions } from '../../../orders/filters/filter-conditions.ts'
import { isAfter, NULL_INSTANT_KEY, type PageQuery } from '../../../orders/order-store.ts'
import { isPaidRange, type ReadRow, type Statement } from './condition-sql.ts'

/** A partial index has the orders whose instants are in another sequence; usually none. */
const exceptions = {
  created_at_desc: {
    source: 'orders INDEXED BY orders_paid_before_creation',
    where: 'paid_key < created_key',
    extreme: 'max(created_key)',
  },
  updated_at_asc: {
    source: 'orders INDEXED BY orders_paid_after_update',
    where: `paid_key > updated_key AND paid_key < ${NULL_INSTANT_KEY}`,
    extreme: 'min(updated_key)',
  },
}

/** With as many exceptions, a page starts where it would without a range. */
const MAX_EXCEPTIONS = 100

/**
 * Moves the start of a page past the orders that a range of payments excludes by their place in the
 * sort: an order is created before its payment, and updated no earlier than paid. So the newest
 * orders of an account are not read for the payments of an old month. `read` counts exceptions.
 */
export function seekPaidRange(query: PageQuery, read: ReadRow): PageQuery {
  const { accountId, filters, sort, after } = query
  const range = filterConditions(filters).find(isPaidRange)?.range
  const bound = sort === 'created_at_desc' ? range?.lt : range?.gte
  if (range === undefined || bound === undefined || bound === NULL_INSTANT_KEY) return query
  const { gte = Number.MIN_SAFE_INTEGER, lt = NULL_INSTANT_KEY } = range
  const { rows, key } = read(exceptionsStatement(sort, [accountId, gte, lt]))
  if (rows === MAX_EXCEPTIONS) return query
  const start = { key: startKey(sort, bound, key as number | null), id: '' }
  return after && isAfter(after, start, sort) ? query : { ...query, after: start }
}

/** No id precedes the empty one: a position with it is before all orders of its key, or after. */
function startKey(sort: PageQuery['sort'], bound: number, exception: number | null): number {
  if (exception === null) return bound
  return sort === 'created_at_desc' ? Math.max(bound, exception + 1) : Math.min(bound, exception)
}

function exceptionsStatement(sort: PageQuery['sort'], params: Statement['params']): Statement {
  const { source, where, extreme } = exceptions[sort]
  return {
    sql: `SELECT count(*) AS rows, ${extreme} AS key FROM (SELECT created_key, updated_key FROM ${source} WHERE account_id = ? AND paid_key >= ? AND paid_key < ? AND ${where} LIMIT ${MAX_EXCEPTIONS})`,
    params,
  }
}
