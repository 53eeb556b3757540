import { orderStatuses, paymentMethods } from './statuses.ts'

/** What the query parameters of a filter have in common, for the parser and the docs. */
interface FilterParam {
  /** The name of the query parameter. */
  param: string
  /** Portuguese, for the API reference. */
  description: string
  /** Names that other APIs use, in lower case and without separators. */
  synonyms: readonly string[]
}

interface FilterStorage {
  /** The field of both stores that the filter compares. */
  column: string
  /**
   * `true` for the filters of the first release, which occupy fixed places in the text that a
   * cursor signs. A filter added later has `false` and joins that text only when set: existing
   * cursors stay valid.
   */
  isInEveryCursor: boolean
}

/** Matches orders whose field is one of the given values. */
export interface ValuesFilter extends FilterParam, FilterStorage {
  kind: 'values'
  values: readonly string[]
  example: string
}

/** Matches orders whose field lies in a half-open range of instants. */
export interface RangeFilter extends FilterStorage {
  kind: 'range'
  /** Whether an order can lack the field; a bound at either end excludes such an order. */
  isNullable: boolean
  gte: FilterParam
  lt: FilterParam
  /** With `true`, a range also matches orders that lack the field. Only of a nullable field. */
  orNull?: FilterParam
}

export type Filter = ValuesFilter | RangeFilter

/**
 * Every filter of `GET /v1/orders`. Parser, suggestions, API reference, cursors and both stores
 * read this table. Different filters combine with AND, the values of one filter with OR.
 */
export const orderFilters = {
  statuses: {
    kind: 'values',
    param: 'status',
    column: 'status',
    values: orderStatuses,
    description: 'Pedidos com um destes status.',
    example: 'PAID',
    synonyms: [],
    isInEveryCursor: true,
  },
  paymentMethods: {
    kind: 'values',
    param: 'payment_method',
    column: 'payment_method',
    values: paymentMethods,
    description: 'Pedidos cujo último pagamento tem um destes métodos (`payment.method`).',
    example: 'PIX',
    synonyms: ['method', 'paymenttype'],
    isInEveryCursor: true,
  },
  created: {
    kind: 'range',
    column: 'created_key',
    isNullable: false,
    gte: {
      param: 'created_gte',
      description: 'Pedidos criados neste instante ou depois.',
      synonyms: [
        'created',
        'createdat',
        'createdafter',
        'createdsince',
        'createdfrom',
        'createdatfrom',
        'createdatmin',
      ],
    },
    lt: {
      param: 'created_lt',
      description: 'Pedidos criados antes deste instante.',
      synonyms: ['createdbefore', 'createduntil', 'createdto', 'createdatto', 'createdatmax'],
    },
    isInEveryCursor: true,
  },
  updated: {
    kind: 'range',
    column: 'updated_key',
    isNullable: true,
    gte: {
      param: 'updated_gte',
      description:
        'Pedidos com `updated_at` neste instante ou depois; sem `include_undated=true`, nunca traz pedidos com `updated_at` nulo.',
      synonyms: [
        'updated',
        'updatedat',
        'updatedafter',
        'updatedsince',
        'updatedfrom',
        'updatedatmin',
        'modifiedsince',
      ],
    },
    lt: {
      param: 'updated_lt',
      description:
        'Pedidos com `updated_at` antes deste instante; sem `include_undated=true`, nunca traz pedidos com `updated_at` nulo.',
      synonyms: ['updatedbefore', 'updateduntil', 'updatedto', 'updatedatmax', 'modifiedbefore'],
    },
    orNull: {
      param: 'include_undated',
      description:
        'Com `true`, `updated_gte` e `updated_lt` trazem também os pedidos com `updated_at` nulo, que em `updated_at_asc` vêm depois de todos os outros. Para ferramentas que enviam `updated_gte` desde a primeira leitura.',
      synonyms: ['includenull', 'includenulls', 'undated', 'withundated'],
    },
    isInEveryCursor: true,
  },
} as const satisfies Record<string, Filter>

type FilterTable = typeof orderFilters
type FilterOfTable = FilterTable[keyof FilterTable]
type ValuesOfTable = Extract<FilterOfTable, { kind: 'values' }>
type RangeOfTable = Extract<FilterOfTable, { kind: 'range' }>

export type FilterParamName =
  | ValuesOfTable['param']
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
    kind: 'values'
    values: readonly (infer Value)[]
  }
    ? readonly Value[]
    : InstantRange
}

/** The query parameters of one filter. */
export function paramsOf(filter: Filter): FilterParam[] {
  if (filter.kind === 'values') return [filter]
  const { gte, lt, orNull } = filter
  return orNull === undefined ? [gte, lt] : [gte, lt, orNull]
}

/**
 * The filters in the form that a cursor signs: one form for all ways to write the same filters, so
 * values follow the order of the table and have no duplicates. Changing the form of an existing
 * filter invalidates every cursor in use.
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
  if (filter.kind === 'values') {
    const given = value as readonly string[]
    return filter.values.filter((known) => given.includes(known))
  }
  const { gte, lt, orNull } = value as InstantRange
  const bounds = [gte ?? null, lt ?? null]
  return orNull === undefined ? bounds : [...bounds, orNull]
}
