import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { callTimeoutMs, unbounded } from '../../lib/request-scope.ts'
import {
  filterConditions,
  NULL_UPDATED_KEY,
  type OrderStore,
  type PageQuery,
  type Position,
  type RangeCondition,
  type RenderedOrder,
  type Sort,
  type ViewKey,
} from '../../orders/order-store.ts'
import { upgradeOrder } from '../../orders/upgrade-order.ts'

/** An order as it was written, in the schema version of that time. */
interface StoredOrder {
  shape: number
  json: Uint8Array
}

/** The orders of an embedded database. Each call is one statement, so one snapshot. */
export function createSqliteOrderStore(db: DatabaseSync): OrderStore {
  const pageStatements = new Map<string, StatementSync>()
  const selectLatestWrite = db.prepare(
    'SELECT written_key AS key, id FROM orders WHERE account_id = ? ORDER BY written_key DESC, id DESC LIMIT 1',
  )
  const selectOrder = db.prepare('SELECT shape, json FROM orders WHERE account_id = ? AND id = ?')

  /** The forms of statement are few (which filters, which sort), so each is prepared once. */
  function prepareOnce(sql: string): StatementSync {
    const statement = pageStatements.get(sql) ?? db.prepare(sql)
    pageStatements.set(sql, statement)
    return statement
  }

  function findOrder({ accountId, orderId }: ViewKey): Uint8Array | null {
    const row = selectOrder.get(accountId, orderId) as unknown as StoredOrder | undefined
    return row ? upgradeOrder(row.json, row.shape) : null
  }

  return {
    async findPage(query, scope = unbounded) {
      callTimeoutMs(scope)
      const { sql, params } = pageStatement(query)
      const rows = prepareOnce(sql).all(...params) as unknown as (RenderedOrder & StoredOrder)[]
      return rows.map(({ key, id, shape, json }) => ({ key, id, json: upgradeOrder(json, shape) }))
    },
    async latestWrite(accountId, scope = unbounded) {
      callTimeoutMs(scope)
      return (selectLatestWrite.get(accountId) as unknown as Position | undefined) ?? null
    },
    async get(accountId, orderId, scope = unbounded) {
      callTimeoutMs(scope)
      return findOrder({ accountId, orderId })
    },
    async getMany(keys) {
      return keys.map(findOrder)
    },
  }
}

type Range = RangeCondition['range']

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
      return within({ ...condition, range })
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
function withoutPassedBound({ gte, lt }: Range, after: Position, sort: Sort): Range {
  const passedLt = sort === 'created_at_desc' && lt !== undefined && after.key < lt
  const passedGte = sort === 'updated_at_asc' && gte !== undefined && after.key >= gte
  return {
    ...(gte !== undefined && !passedGte && { gte }),
    ...(lt !== undefined && !passedLt && { lt }),
  }
}

function within({ column, range: { gte, lt }, orKey }: RangeCondition): Statement[] {
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

function oneOf(column: string, values: readonly string[]): Statement[] {
  return [{ sql: `${column} IN (${values.map(() => '?').join(', ')})`, params: [...values] }]
}
