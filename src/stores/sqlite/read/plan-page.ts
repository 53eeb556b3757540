import {
  type FilterCondition,
  filterConditions,
  type LookupCondition,
} from '../../../orders/filters/filter-conditions.ts'
import type { PageQuery } from '../../../orders/order-store.ts'
import { allOf, conditionSql, isPaidRange, type ReadRow, type Statement } from './condition-sql.ts'
import { BOUND_LIMIT, type LeadingCondition, pageStatement, sortOrders } from './page-statement.ts'
import { seekPaidRange } from './seek-paid-range.ts'

/** Counts stop at these limits. A condition with fewer rows than one leads the page. */
const FEW_ROWS = [20, 200]
/** A scan of the sort's index is short when this many of its next orders contain a full page. */
const SCANNED_ROWS = 2_000
/** Where no short scan finds a page, the payments of the range are sorted if they are fewer. */
const SORTED_ROWS = 5_000

/** The statement of one page, by what the few rows that `read` returns say of the filters. */
export function planPage(query: PageQuery, read: ReadRow): Statement {
  const started = seekPaidRange(query, read)
  return pageStatement(started, leadingCondition(started, read))
}

/**
 * The condition whose index a page follows; `null` for the index of the sort. A lookup's index has
 * the order of the sort, and a range's has not.
 */
function leadingCondition(query: PageQuery, read: ReadRow): LeadingCondition | null {
  const conditions = filterConditions(query.filters)
  const payment = conditions.find(isPaidRange)
  // A customer has fewer orders than a product has.
  const mostSelective = conditions.findLast(isLookup) ?? null
  const count = (statement: Statement) => read(statement)['rows'] as number

  if (mostSelective === null) {
    if (payment === undefined || count(scanStatement(query, conditions)) === query.size) return null
    const isSortable = count(countStatement(query.accountId, payment, SORTED_ROWS)) < SORTED_ROWS
    return isSortable ? payment : null
  }
  const candidates = conditions.filter((one) => isLookup(one) || isPaidRange(one))
  if (candidates.length === 1) return mostSelective
  for (const limit of FEW_ROWS) {
    const counted = candidates.map((condition) => {
      return { condition, rows: count(countStatement(query.accountId, condition, limit)) }
    })
    const fewest = counted.reduce((one, other) => (other.rows < one.rows ? other : one))
    if (fewest.rows < limit) return fewest.condition
  }
  return mostSelective
}

function isLookup(condition: FilterCondition): condition is LookupCondition {
  return 'lookup' in condition
}

function countStatement(accountId: string, condition: LeadingCondition, limit: number): Statement {
  const source = 'lookup' in condition ? 'order_lookups' : 'orders INDEXED BY orders_by_paid'
  const { sql, params } = conditionSql(condition)
  return {
    sql: `SELECT count(*) AS rows FROM (SELECT 1 FROM ${source} WHERE account_id = ? AND ${sql} LIMIT ${limit})`,
    params: [accountId, ...params],
  }
}

/** Counts a page of matches among the next orders of the sort; `conditions`: without lookups. */
function scanStatement(
  { accountId, sort, after, size }: PageQuery,
  conditions: readonly FilterCondition[],
): Statement {
  const { index, column, direction, operator } = sortOrders[sort]
  const position = after ? ` AND (${column}, id) ${operator} (?, ?)` : ''
  const { sql, params } = allOf(conditions.map(conditionSql))
  return {
    sql: `SELECT count(*) AS rows FROM (SELECT 1 FROM (SELECT status, payment_method, created_key, updated_key, paid_key FROM orders INDEXED BY ${index} WHERE account_id = ?${position} ORDER BY ${column} ${direction}, id ${direction} LIMIT ${SCANNED_ROWS}) WHERE ${sql} LIMIT ${BOUND_LIMIT})`,
    params: [accountId, ...(after ? [after.key, after.id] : []), ...params, size],
  }
}
