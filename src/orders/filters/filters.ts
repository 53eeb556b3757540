import { memoizeByObject } from '../../lib/memoize-by-object.ts'
import { type FilterGeneration, filterGenerations } from './filter-generations.ts'
import { orderFilters } from './filter-table.ts'
import { type Filter, paramsOf } from './filter-types.ts'

type FilterTable = typeof orderFilters
type FilterOfTable = FilterTable[keyof FilterTable]
type EnumOfTable = Extract<FilterOfTable, { kind: 'enum' }>
type RangeOfTable = Extract<FilterOfTable, { kind: 'range' }>
type TextOfTable = Extract<FilterOfTable, { kind: 'text' }>

export type FilterParamName =
  | EnumOfTable['param']
  | TextOfTable['param']
  | RangeOfTable['gte']['param']
  | RangeOfTable['lt']['param']
  | Extract<RangeOfTable, { orNull: object }>['orNull']['param']

/** Epoch milliseconds; `gte` inclusive, `lt` exclusive. */
export interface InstantRange {
  gte?: number
  lt?: number
  /** Also matches orders without an instant. Only beside a bound. */
  orNull?: true
}

/** The filters of one listing; an empty list or range filters nothing. */
export type OrderFilters = {
  readonly [Name in keyof FilterTable]: FilterTable[Name] extends {
    kind: 'enum'
    values: readonly (infer Value)[]
  }
    ? readonly Value[]
    : FilterTable[Name] extends { kind: 'text' }
      ? readonly string[]
      : InstantRange
}

/** The filters of a listing of all orders: one object, for which derived values are cached. */
export const noFilters = Object.freeze(
  Object.fromEntries(
    Object.entries(orderFilters).map(([name, { kind }]) => [
      name,
      Object.freeze(kind === 'range' ? {} : []),
    ]),
  ),
) as unknown as OrderFilters

/**
 * The newest generation of the filters that are set, with the parameter of one of them; `undefined`
 * when every index has their columns.
 */
export const newestGenerationOf = memoizeByObject(findNewestGeneration)

function findNewestGeneration(filters: OrderFilters) {
  const given = Object.entries(orderFilters).filter(
    ([name]) => Object.keys(filters[name as keyof OrderFilters]).length > 0,
  )
  for (const generation of filterGenerations.toReversed()) {
    const [name, filter] = given.find(([, filter]) => isOfGeneration(filter, generation)) ?? []
    if (filter === undefined) continue
    if (filter.kind !== 'range') return { generation, param: filter.param }
    const { gte, lt } = filter
    return { generation, param: 'gte' in filters[name as 'paid'] ? gte.param : lt.param }
  }
  return undefined
}

function isOfGeneration({ column }: Filter, { columns }: FilterGeneration): boolean {
  return columns.some((one) => one === column)
}

/** The parameters of the filters of a generation. */
export function paramsOfGeneration(generation: FilterGeneration): string[] {
  return Object.values<Filter>(orderFilters)
    .filter((filter) => isOfGeneration(filter, generation))
    .flatMap((filter) => paramsOf(filter).map(({ param }) => param))
}

/**
 * The filters in canonical form, which a cursor signs. Values are in the order of the table, texts
 * in that of their characters, without duplicates. Changing the form of an existing filter
 * invalidates every cursor in use.
 */
export function canonicalFilters(
  filters: Readonly<Record<string, readonly string[] | InstantRange>>,
  table: Readonly<Record<string, Filter>> = orderFilters,
): unknown[] {
  return Object.entries(table).flatMap(([name, filter]): unknown[] => {
    const canonical = canonicalFilter(filter, filters[name])
    if (filter.isInEveryCursor) return [canonical]
    return canonical.some((value) => value !== null) ? [{ [name]: canonical }] : []
  })
}

function canonicalFilter(
  filter: Filter,
  value: readonly string[] | InstantRange = [],
): (string | number | boolean | null)[] {
  if (filter.kind === 'enum') {
    const given = value as readonly string[]
    return filter.values.filter((known) => given.includes(known))
  }
  if (filter.kind === 'text') return [...new Set(value as readonly string[])].toSorted()
  const { gte, lt, orNull } = value as InstantRange
  const bounds = [gte ?? null, lt ?? null]
  return orNull === undefined ? bounds : [...bounds, orNull]
}
