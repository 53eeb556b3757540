import {
  type FilterCondition,
  filterConditions,
  type LookupCondition,
  type PageQuery,
  type RangeCondition,
} from '../../../orders/order-store.ts'
import { conditionSql, type Statement } from './page-statement.ts'

/** A condition with an index of its own. */
export type LeadingCondition = LookupCondition | RangeCondition

/** Up to so many matches of a range are sorted; with more, a walk in the sort's order finds them. */
const FEW_ROWS = 5_000

/**
 * The condition whose index a page follows; `null` for the index of the sort. A lookup's index has
 * the order of the sort, and a range's has not. Counts stop at {@link FEW_ROWS}.
 */
export function leadingCondition(
  { accountId, filters }: Pick<PageQuery, 'accountId' | 'filters'>,
  count: (statement: Statement) => number,
): LeadingCondition | null {
  const conditions = filterConditions(filters)
  const lookups = conditions.filter(isLookup)
  const candidates = [...lookups, ...conditions.filter(isPaidRange)]
  if (candidates.length === lookups.length && lookups.length < 2) return lookups[0] ?? null
  const counted = candidates.map((condition) => {
    return { condition, rows: count(countStatement(accountId, condition)) }
  })
  const rows = Math.min(...counted.map((candidate) => candidate.rows))
  const fewest = counted.find((candidate) => candidate.rows === rows)?.condition ?? null
  return rows < FEW_ROWS || lookups.length > 0 ? fewest : null
}

const isLookup = (condition: FilterCondition) => 'lookup' in condition

function isPaidRange(condition: FilterCondition): condition is RangeCondition {
  return 'range' in condition && condition.column === 'paid_key'
}

function countStatement(accountId: string, condition: LeadingCondition): Statement {
  const source = 'lookup' in condition ? 'order_lookups' : 'orders INDEXED BY orders_by_paid'
  const { sql, params } = conditionSql(condition)
  return {
    sql: `SELECT count(*) AS rows FROM (SELECT 1 FROM ${source} WHERE account_id = ? AND ${sql} LIMIT ${FEW_ROWS})`,
    params: [accountId, ...params],
  }
}
