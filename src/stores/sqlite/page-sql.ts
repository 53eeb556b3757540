import type { SQLInputValue } from 'node:sqlite'
import type { InstantRange } from '../../orders/filters.ts'
import {
  filterConditions,
  NULL_UPDATED_KEY,
  type PageQuery,
  type Position,
  type Sort,
} from '../../orders/order-store.ts'

export interface Statement {
  sql: string
  params: SQLInputValue[]
}

/** How each sort walks: along which index, by which column, which way. */
const sortOrders = {
  created_at_desc: {
    index: 'orders_by_created',
    column: 'created_key',
    direction: 'DESC',
    operator: '<',
  },
  updated_at_asc: {
    index: 'orders_by_updated',
    column: 'updated_key',
    direction: 'ASC',
    operator: '>',
  },
} as const satisfies Record<Sort, object>

/**
 * The statement of one page. It names the index, because the planner would otherwise filter by the
 * range of the other sort and sort all matches for every page. Pure.
 */
export function pageStatement({ accountId, sort, filters, after, ...query }: PageQuery): Statement {
  const { index, column, direction, operator } = sortOrders[sort]
  const conditions: Statement[] = [
    { sql: 'account_id = ?', params: [accountId] },
    ...filterConditions(filters).flatMap((condition) => {
      if ('values' in condition) return oneOf(condition.column, condition.values)
      const isPaged = after !== null && condition.column === column
      const range = isPaged ? withoutPassedBound(condition.range, after, sort) : condition.range
      return within(condition.column, range)
    }),
  ]
  if (after) {
    conditions.push({ sql: `(${column}, id) ${operator} (?, ?)`, params: [after.key, after.id] })
  }
  if (query.nullsWrittenAfter) {
    const { key, id } = query.nullsWrittenAfter
    conditions.push({
      sql: `(updated_key < ${NULL_UPDATED_KEY} OR (written_key, id) > (?, ?))`,
      params: [key, id],
    })
  }

  const where = conditions.map(({ sql }) => sql).join(' AND ')
  return {
    sql: `SELECT ${column} AS key, id, shape, json FROM orders INDEXED BY ${index} WHERE ${where} ORDER BY ${column} ${direction}, id ${direction} LIMIT ?`,
    params: [...conditions.flatMap(({ params }) => params), query.size],
  }
}

/**
 * A bound that `after` has passed is redundant, but the planner may seek to it instead of to
 * `after` and scan every earlier page.
 */
function withoutPassedBound({ gte, lt }: InstantRange, after: Position, sort: Sort): InstantRange {
  const passedLt = sort === 'created_at_desc' && lt !== undefined && after.key < lt
  const passedGte = sort === 'updated_at_asc' && gte !== undefined && after.key >= gte
  return {
    ...(gte !== undefined && !passedGte && { gte }),
    ...(lt !== undefined && !passedLt && { lt }),
  }
}

function within(column: string, { gte, lt }: InstantRange): Statement[] {
  const conditions: Statement[] = []
  if (gte !== undefined) conditions.push({ sql: `${column} >= ?`, params: [gte] })
  if (lt !== undefined) conditions.push({ sql: `${column} < ?`, params: [lt] })
  return conditions
}

function oneOf(column: string, values: readonly string[]): Statement[] {
  return [{ sql: `${column} IN (${values.map(() => '?').join(', ')})`, params: [...values] }]
}
