import { memoizeByObject } from '../../lib/memoize-by-object.ts'
import type { LookupColumn } from '../lookups.ts'
import { NULL_INSTANT_KEY } from '../order-store.ts'
import { orderFilters } from './filter-table.ts'
import type { InstantRange, OrderFilters } from './filters.ts'

/** One condition of a listing, which each store translates into its query language. */
export type FilterCondition =
  | { column: string; values: readonly string[] }
  | LookupCondition
  | RangeCondition

/** One of these texts is among those of the order. */
export interface LookupCondition {
  lookup: LookupColumn
  values: readonly string[]
}

/** A range of keys; `orKey` matches beside it. */
export interface RangeCondition {
  column: string
  range: { gte?: number; lt?: number }
  orKey?: number
}

/** The conditions of the filters that are set, in the order of the table of filters. */
export const filterConditions = memoizeByObject(conditionsOf)

function conditionsOf(filters: OrderFilters): readonly FilterCondition[] {
  return Object.entries(orderFilters).flatMap(([name, filter]): FilterCondition[] => {
    const { column } = filter
    const given = filters[name as keyof OrderFilters]
    if (filter.kind !== 'range') {
      const values = given as readonly string[]
      if (values.length === 0) return []
      return [filter.kind === 'text' ? { lookup: filter.column, values } : { column, values }]
    }
    const range = given as InstantRange
    if (Object.keys(range).length === 0) return []
    return [filter.isNullable ? nullableCondition(column, range) : { column, range }]
  })
}

/**
 * A filter on `updated_at` or `paid_at` as a range of keys. A bound at either end excludes orders
 * without it, whose key is after every bound, unless the filter includes them.
 */
function nullableCondition(column: string, { gte, lt, orNull }: InstantRange): RangeCondition {
  const from = gte === undefined ? {} : { gte }
  if (orNull === undefined) {
    return { column, range: { ...from, lt: Math.min(lt ?? NULL_INSTANT_KEY, NULL_INSTANT_KEY) } }
  }
  return lt === undefined
    ? { column, range: from }
    : { column, range: { ...from, lt }, orKey: NULL_INSTANT_KEY }
}
