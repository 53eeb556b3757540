import {
  filterConditions,
  type LookupCondition,
  type RangeCondition,
} from '../../../orders/filters/filter-conditions.ts'
import {
  NULL_INSTANT_KEY,
  type PageQuery,
  type Position,
  type Sort,
} from '../../../orders/order-store.ts'
import { allOf, conditionSql, hasLookup, rangeBounds, type Statement } from './condition-sql.ts'

const CONTENT = `json, shape, written_key || '-' || checksum AS tag`

/** A condition with an index of its own. */
export type LeadingCondition = LookupCondition | RangeCondition

/**
 * A parameter as a limit. SQLite plans a statement with a bare one at each execution, which takes a
 * fourth of the CPU time of a page of 20. It does not look into an expression.
 */
export const BOUND_LIMIT = '+?'

/** How each sort walks: along which index, by which column, which way. */
export const sortOrders = {
  created_at_desc: {
    index: 'orders_by_created',
    // The primary key, which has the sort keys of this sort.
    lookupIndex: 'sqlite_autoindex_order_lookups_1',
    column: 'created_key',
    direction: 'DESC',
    operator: '<',
  },
  updated_at_asc: {
    index: 'orders_by_updated',
    lookupIndex: 'order_lookups_by_updated',
    column: 'updated_key',
    direction: 'ASC',
    operator: '>',
  },
} as const satisfies Record<Sort, object>

/**
 * The statement of one page, for `joinRows`. It names each index, because the planner would
 * otherwise filter by the range of the other sort and sort all matches for every page. `leading`:
 * the condition whose index it follows; `null` for the index of the sort. Pure.
 */
export function pageStatement(
  query: PageQuery,
  leading: LeadingCondition | null = null,
): Statement {
  const { index, column, direction } = sortOrders[query.sort]
  if (leading === null) {
    return rowsStatement(`${column} AS key, id, ${CONTENT} FROM orders INDEXED BY ${index}`, query)
  }
  const keys = keysStatement(query, leading)
  return {
    sql: `SELECT key, orders.id AS id, ${CONTENT} FROM (${keys.sql}) AS page CROSS JOIN orders INDEXED BY orders_by_id ON orders.account_id = ? AND orders.id = page.id ORDER BY key ${direction}, page.id ${direction}`,
    params: [...keys.params, query.accountId],
  }
}

/**
 * The sort keys and ids of a page. SQLite merges the values of a lookup, each of which has its rows
 * in order, and reads no further than the page; a subquery or `LIMIT` of their own would prevent
 * it.
 */
function keysStatement(query: PageQuery, leading: LeadingCondition): Statement {
  const { lookupIndex, column, direction } = sortOrders[query.sort]
  const keys = `${column} AS key, id FROM`
  if ('range' in leading) return rowsStatement(`${keys} orders INDEXED BY orders_by_paid`, query)
  const { lookup, values } = leading
  const source = `${keys} order_lookups INDEXED BY ${lookupIndex}`
  const branches = values.map((value) =>
    selectStatement(source, query, { lookup, values: [value] }),
  )
  return {
    // With a bound limit, SQLite would sort all rows of each value.
    sql: `${branches.map(({ sql }) => sql).join(' UNION ')} ORDER BY key ${direction}, id ${direction} LIMIT ${query.size}`,
    params: branches.flatMap(({ params }) => params),
  }
}

/** The rows of a page, in its order. */
function rowsStatement(selection: string, query: PageQuery): Statement {
  const { column, direction } = sortOrders[query.sort]
  const { sql, params } = selectStatement(selection, query)
  return {
    sql: `${sql} ORDER BY ${column} ${direction}, id ${direction} LIMIT ${BOUND_LIMIT}`,
    params: [...params, query.size],
  }
}

/**
 * All rows from the start of the page. `leading`: replaces the condition on the same field, which
 * then is one of `order_lookups`.
 */
function selectStatement(
  selection: string,
  { accountId, sort, filters, after, ...query }: PageQuery,
  leading?: LookupCondition,
): Statement {
  const { column, operator } = sortOrders[sort]
  const others = filterConditions(filters).filter((condition) => {
    return !('lookup' in condition) || condition.lookup !== leading?.lookup
  })
  const conditions: Statement[] = [
    { sql: 'account_id = ?', params: [accountId] },
    ...(leading === undefined ? [] : [conditionSql(leading)]),
    ...others.flatMap((condition) => {
      if ('lookup' in condition) return hasLookup(condition, leading ? 'order_lookups' : 'orders')
      if ('values' in condition) return conditionSql(condition)
      const isPaged = after !== null && condition.column === column
      const range = isPaged ? withoutPassedBound(condition.range, after, sort) : condition.range
      return rangeBounds({ ...condition, range })
    }),
  ]
  if (after) {
    conditions.push({ sql: `(${column}, id) ${operator} (?, ?)`, params: [after.key, after.id] })
  }
  if (query.nullsWrittenAfter) {
    const { key, id } = query.nullsWrittenAfter
    conditions.push({
      sql: `(updated_key < ${NULL_INSTANT_KEY} OR (written_key, id) > (?, ?))`,
      params: [key, id],
    })
  }

  const { sql, params } = allOf(conditions)
  return { sql: `SELECT ${selection} WHERE ${sql}`, params }
}

type Range = RangeCondition['range']
/**
 * A bound that `after` has passed is redundant, but the planner may seek to it instead of to
 * `after` and scan every earlier page.
 */
function withoutPassedBound({ gte, lt }: Range, after: Position, sort: Sort): Range {
  const passedLt = sort === 'created_at_desc' && lt !== undefined && after.key < lt
  const passedGte = sort === 'updated_at_asc' && gte !== undefined && after.key >= gte
  return {
    ...(gte !== undefined && !passedGte && { gte }),
    ...(lt !== undefined && !passedLt && { lt }),
  }
}
