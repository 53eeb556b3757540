import {
  canonicalDocument,
  canonicalEmail,
  canonicalProductId,
  type LookupColumn,
} from './lookups.ts'
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
  /** `false`: an index of an earlier release lacks the field, so the filter needs a reindex. */
  isInEveryIndex: boolean
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

/** Matches orders that have one of the given texts in a field. */
export interface LookupFilter extends FilterParam, FilterStorage {
  kind: 'lookup'
  column: LookupColumn
  /** The form that is compared; `null` for a text that no order can have. */
  canonical(text: string): string | null
  /** A regular expression for the API reference. It may match texts without a canonical form. */
  pattern: string
  /** Portuguese: how to write a value. */
  help: string
  example: string
}

export type Filter = ValuesFilter | RangeFilter | LookupFilter

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
    isInEveryIndex: true,
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
    isInEveryIndex: true,
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
    isInEveryIndex: true,
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
    isInEveryIndex: true,
  },
  paid: {
    kind: 'range',
    column: 'paid_key',
    isNullable: true,
    gte: {
      param: 'paid_gte',
      description: 'Pedidos pagos neste instante ou depois; nunca traz pedidos com `paid_at` nulo.',
      synonyms: ['paid', 'paidat', 'paidafter', 'paidsince', 'paidfrom', 'paidatmin'],
    },
    lt: {
      param: 'paid_lt',
      description: 'Pedidos pagos antes deste instante; nunca traz pedidos com `paid_at` nulo.',
      synonyms: ['paidbefore', 'paiduntil', 'paidto', 'paidatmax'],
    },
    isInEveryCursor: false,
    isInEveryIndex: false,
  },
  productIds: {
    kind: 'lookup',
    param: 'product_id',
    column: 'product_ids',
    canonical: canonicalProductId,
    pattern: '^prod_[^,]+$',
    description: 'Pedidos com um destes produtos entre os itens (`items[].product_id`).',
    help: 'Envie o product_id de um item como a API o devolve, com o prefixo prod_.',
    example: 'prod_1',
    synonyms: ['product', 'productids', 'items', 'item', 'itemid', 'sku'],
    isInEveryCursor: false,
    isInEveryIndex: false,
  },
  customerEmails: {
    kind: 'lookup',
    param: 'customer_email',
    column: 'customer_email',
    canonical: canonicalEmail,
    pattern: '^[^\\s,@]+@[^\\s,@]+$',
    description:
      'Pedidos de um comprador com um destes e-mails (`customer.email`): o e-mail inteiro, sem diferenciar maiúsculas de minúsculas. Na URL, envie o `+` como `%2B`.',
    help: 'Envie o e-mail inteiro, sem espaços. Em uma URL o + vira espaço: envie + como %2B.',
    example: 'ana@exemplo.com.br',
    synonyms: ['email', 'mail', 'customer', 'buyer', 'buyeremail', 'useremail'],
    isInEveryCursor: false,
    isInEveryIndex: false,
  },
  customerDocuments: {
    kind: 'lookup',
    param: 'customer_document',
    column: 'customer_document',
    canonical: canonicalDocument,
    pattern: '^[0-9A-Za-z./ -]{11,}$',
    description:
      'Pedidos de um comprador com um destes documentos (`customer.document`): CPF ou CNPJ, com ou sem pontuação.',
    help: 'Envie um CPF de 11 dígitos ou um CNPJ de 14 caracteres, com ou sem pontuação. Em um CNPJ com letras os dígitos verificadores devem estar certos.',
    example: '12345678909',
    synonyms: ['document', 'cpf', 'cnpj', 'taxid', 'documento', 'buyerdocument'],
    isInEveryCursor: false,
    isInEveryIndex: false,
  },
} as const satisfies Record<string, Filter>

type FilterTable = typeof orderFilters
type FilterOfTable = FilterTable[keyof FilterTable]
type ValuesOfTable = Extract<FilterOfTable, { kind: 'values' }>
type RangeOfTable = Extract<FilterOfTable, { kind: 'range' }>
type LookupOfTable = Extract<FilterOfTable, { kind: 'lookup' }>

export type FilterParamName =
  | ValuesOfTable['param']
  | LookupOfTable['param']
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
    : FilterTable[Name] extends { kind: 'lookup' }
      ? readonly string[]
      : InstantRange
}

/** The filters of a listing of all orders. */
export const noFilters = Object.fromEntries(
  Object.entries(orderFilters).map(([name, { kind }]) => [name, kind === 'range' ? {} : []]),
) as unknown as OrderFilters

/** The parameter of a filter that is set and that an index of an earlier release lacks. */
export function addedParamOf(filters: OrderFilters): FilterParamName | undefined {
  const added = Object.entries(orderFilters).find(([name, { isInEveryIndex }]) => {
    const given = filters[name as keyof OrderFilters]
    return !isInEveryIndex && Object.keys(given).length > 0
  })
  if (added === undefined) return undefined
  const [name, filter] = added
  if (filter.kind !== 'range') return filter.param
  const { gte, lt } = filter
  return 'gte' in filters[name as 'paid'] ? gte.param : lt.param
}

/** The parameters of the filters that an index of an earlier release lacks. */
export const addedParams: readonly string[] = Object.values<Filter>(orderFilters)
  .filter(({ isInEveryIndex }) => !isInEveryIndex)
  .flatMap((filter) => paramsOf(filter).map(({ param }) => param))

/** The query parameters of one filter. */
export function paramsOf(filter: Filter): FilterParam[] {
  if (filter.kind !== 'range') return [filter]
  const { gte, lt, orNull } = filter
  return orNull === undefined ? [gte, lt] : [gte, lt, orNull]
}

/**
 * The filters in the form that a cursor signs: one form for all ways to write the same filters, so
 * values follow the order of the table, texts that of their characters, without duplicates. Changing the form of an existing
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
  if (filter.kind === 'lookup') return [...new Set(value as readonly string[])].toSorted()
  const { gte, lt, orNull } = value as InstantRange
  const bounds = [gte ?? null, lt ?? null]
  return orNull === undefined ? bounds : [...bounds, orNull]
}
