import type { SQLInputValue } from 'node:sqlite'
import { type InstantRange, NULL_UPDATED_KEY, type SliceQuery } from '../../orders/order-store.ts'

export interface Statement {
  sql: string
  params: SQLInputValue[]
}

/** The statement that answers a slice; pure. */
export function sliceStatement(query: SliceQuery): Statement {
  const { filters, after, nullsWrittenAfter } = query
  const [column, direction, beyond] =
    query.sort === 'created_at_desc'
      ? (['created_key', 'DESC', '<'] as const)
      : (['updated_key', 'ASC', '>'] as const)

  const conditions: Statement[] = [
    { sql: 'account_id = ?', params: [query.accountId] },
    ...oneOf('status', filters.statuses),
    ...oneOf('payment_method', filters.paymentMethods),
    ...within('created_key', filters.created),
    ...within('updated_key', updatedRange(filters.updated)),
  ]
  if (after) {
    conditions.push({ sql: `(${column}, id) ${beyond} (?, ?)`, params: [after.key, after.id] })
  }
  if (nullsWrittenAfter) {
    conditions.push({
      sql: `(updated_key < ${NULL_UPDATED_KEY} OR (written_key, id) > (?, ?))`,
      params: [nullsWrittenAfter.key, nullsWrittenAfter.id],
    })
  }

  return {
    sql: `SELECT ${column} AS key, id, json FROM orders WHERE ${conditions.map(({ sql }) => sql).join(' AND ')} ORDER BY ${column} ${direction}, id ${direction} LIMIT ?`,
    params: [...conditions.flatMap(({ params }) => params), query.size],
  }
}

/** A filter on `updated_at`, at either end, leaves out the orders that have none. */
function updatedRange({ gte, lt }: InstantRange): InstantRange {
  if (gte === undefined && lt === undefined) return {}
  return {
    ...(gte !== undefined && { gte }),
    lt: Math.min(lt ?? NULL_UPDATED_KEY, NULL_UPDATED_KEY),
  }
}

function within(column: string, { gte, lt }: InstantRange): Statement[] {
  const conditions: Statement[] = []
  if (gte !== undefined) conditions.push({ sql: `${column} >= ?`, params: [gte] })
  if (lt !== undefined) conditions.push({ sql: `${column} < ?`, params: [lt] })
  return conditions
}

function oneOf(column: string, values: readonly string[]): Statement[] {
  if (values.length === 0) return []
  return [{ sql: `${column} IN (${values.map(() => '?').join(', ')})`, params: [...values] }]
}
