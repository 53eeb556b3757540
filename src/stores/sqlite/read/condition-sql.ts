import type { SQLInputValue } from 'node:sqlite'
import type {
  FilterCondition,
  LookupCondition,
  RangeCondition,
} from '../../../orders/filters/filter-conditions.ts'

/** SQL with the values of its `?`. */
export interface Statement {
  sql: string
  params: SQLInputValue[]
}

/** Reads the only row of a statement. */
export type ReadRow = (statement: Statement) => Record<string, unknown>

/** A condition on the table that has its fields. */
export function conditionSql(condition: FilterCondition): Statement {
  if ('lookup' in condition) {
    const { sql, params } = oneOf('value', condition.values)
    return { sql: `field = ? AND ${sql}`, params: [condition.lookup, ...params] }
  }
  return 'values' in condition
    ? oneOf(condition.column, condition.values)
    : allOf(rangeBounds(condition))
}

/** Whether a condition is the range of payments. */
export function isPaidRange(condition: FilterCondition): condition is RangeCondition {
  return 'range' in condition && condition.column === 'paid_key'
}

/** Whether the order of a row of `table` has one of these texts. */
export function hasLookup(
  condition: LookupCondition,
  table: 'orders' | 'order_lookups',
): Statement {
  const { sql, params } = conditionSql(condition)
  return {
    sql: `EXISTS (SELECT 1 FROM order_lookups AS other WHERE other.account_id = ${table}.account_id AND ${sql} AND other.created_key = ${table}.created_key AND other.id = ${table}.id)`,
    params,
  }
}

/** Joins conditions by AND. */
export function allOf(conditions: readonly Statement[]): Statement {
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND '),
    params: conditions.flatMap(({ params }) => params),
  }
}

/** The bounds of a range, one condition each. */
export function rangeBounds({ column, range: { gte, lt }, orKey }: RangeCondition): Statement[] {
  const conditions: Statement[] = []
  // A key beside the range is after all others, so the lower bound needs no alternative.
  if (gte !== undefined) conditions.push({ sql: `${column} >= ?`, params: [gte] })
  if (lt !== undefined) {
    conditions.push(
      orKey === undefined
        ? { sql: `${column} < ?`, params: [lt] }
        : { sql: `(${column} < ? OR ${column} = ${orKey})`, params: [lt] },
    )
  }
  return conditions
}

function oneOf(column: string, values: readonly string[]): Statement {
  return { sql: `${column} IN (${values.map(() => '?').join(', ')})`, params: [...values] }
}
