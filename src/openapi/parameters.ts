import { orderFilters } from '../orders/filters/filter-table.ts'
import type { Filter } from '../orders/filters/filter-types.ts'
import {
  DEFAULT_ORDERS_PER_PAGE,
  MAX_CURSOR_LENGTH,
  MAX_FILTER_TEXTS,
  MAX_ORDERS_PER_PAGE,
} from '../orders/list-params.ts'
import { MAX_LOOKUP_LENGTH } from '../orders/lookups.ts'
import { sorts } from '../orders/order-store.ts'
import { EXAMPLE_ETAG, STRICT_PREFERENCE } from './headers.ts'

interface Parameter {
  description: string
  schema: Record<string, unknown>
  example?: unknown
  style?: 'form'
  explode?: boolean
}

const FROM = '2026-03-01T00:00:00-03:00'
const UNTIL = '2026-04-01T00:00:00-03:00'

const instant = (description: string, example: string): Parameter => ({
  description: `${description} Data, hora e fuso são obrigatórios; na URL, envie o \`+\` do fuso como \`%2B\`.`,
  schema: { type: 'string', format: 'date-time' },
  example,
})

const listOf = (
  description: string,
  items: object,
  example: string,
  bounds: { maxItems?: number } = {},
): Parameter => ({
  description: `${description} Lista separada por vírgulas ou parâmetro repetido.`,
  schema: { type: 'array', minItems: 1, ...bounds, items },
  style: 'form',
  explode: false,
  example: [example],
})

const flag = ({
  param,
  description,
}: {
  param: string
  description: string
}): [string, Parameter] => [
  param,
  { description, schema: { type: 'boolean', default: false }, example: true },
]

const pageParameters = {
  limit: {
    description: 'Pedidos por página.',
    schema: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_ORDERS_PER_PAGE,
      default: DEFAULT_ORDERS_PER_PAGE,
    },
    example: DEFAULT_ORDERS_PER_PAGE,
  },
  cursor: {
    description:
      'O `next_cursor` da página anterior, exatamente como recebido; vale só para a mesma conta, os mesmos filtros e o mesmo `sort`.',
    schema: { type: 'string', minLength: 1, maxLength: MAX_CURSOR_LENGTH },
  },
} as const satisfies Record<string, Parameter>

const sortParameter: Parameter = {
  description:
    '`created_at_desc`: por `created_at` e `id` decrescentes, para exibir ou exportar; nenhum pedido que a API já mostrava quando a primeira página foi lida se repete ou falta; um criado durante a leitura não aparece, a menos que a plataforma o grave com atraso, com `created_at` anterior ao ponto da leitura. `updated_at_asc`: por `updated_at` e `id` crescentes, nulos no fim, para manter uma cópia em dia; nenhum pedido que passa pelos filtros falta, e um que mudou durante a leitura aparece de novo (deduplique por `id`). Um pedido que deixa de passar pelos filtros durante a leitura, antes da sua página, não aparece mais: para uma cópia, filtre só por `created_gte`, `created_lt` e `updated_gte`.',
  schema: { type: 'string', enum: [...sorts], default: 'created_at_desc' },
  example: 'updated_at_asc',
}

/** The parameters that define a listing, which every page of it repeats. */
const listingParameters: Record<string, Parameter> = {
  ...Object.fromEntries(Object.values(orderFilters).flatMap(filterParameters)),
  sort: sortParameter,
}

function filterParameters(filter: Filter): [string, Parameter][] {
  if (filter.kind === 'enum') {
    const items = { type: 'string', enum: [...filter.values] }
    return [[filter.param, listOf(filter.description, items, filter.example)]]
  }
  if (filter.kind === 'text') {
    const { pattern } = filter
    const items = { type: 'string', pattern, maxLength: MAX_LOOKUP_LENGTH }
    const description = `${filter.description} No máximo ${MAX_FILTER_TEXTS} valores.`
    return [
      [filter.param, listOf(description, items, filter.example, { maxItems: MAX_FILTER_TEXTS })],
    ]
  }
  const { gte, lt, orNull } = filter
  return [
    [gte.param, instant(gte.description, FROM)],
    [lt.param, instant(lt.description, UNTIL)],
    ...(orNull === undefined ? [] : [flag(orNull)]),
  ]
}

// Both accept any text: unknown preferences and foreign ETags are ignored.
const requestHeaders = {
  Prefer: {
    description:
      '`handling=strict`: um parâmetro desconhecido dá `400` com o nome em `error.param`, em vez de ser ignorado (RFC 7240). Qualquer outra preferência é ignorada.',
    schema: { type: 'string' },
    example: STRICT_PREFERENCE,
  },
  'If-None-Match': {
    description:
      'O `ETag` de uma resposta guardada deste mesmo endereço: `304` sem corpo se nada mudou. Conta como uma requisição.',
    schema: { type: 'string' },
    example: EXAMPLE_ETAG,
  },
} as const satisfies Record<string, Parameter>

/** The optional request headers of every route. */
export function headerParameters() {
  return Object.entries(requestHeaders).map(([name, header]) => {
    return { name, in: 'header', required: false, ...header }
  })
}

/** The query parameters of `GET /v1/orders`. */
export function listParameters() {
  return Object.entries({ ...pageParameters, ...listingParameters }).map(([name, parameter]) => {
    return { name, in: 'query', required: false, ...parameter }
  })
}

const repeatedParameters = Object.keys(listingParameters).map((name) => [
  name,
  `$request.query.${name}`,
])

/** The OpenAPI links of a page of orders, for programs that follow the description. */
export const pageLinks = {
  nextPage: {
    operationId: 'orders_list',
    description:
      'A próxima página, enquanto `has_more` é verdadeiro: os mesmos filtros e o mesmo `sort`.',
    parameters: {
      cursor: '$response.body#/next_cursor',
      ...Object.fromEntries(repeatedParameters),
    },
  },
  order: {
    operationId: 'orders_get',
    description: 'Um dos pedidos da página; o primeiro, por exemplo.',
    parameters: { id: '$response.body#/data/0/id' },
  },
}
