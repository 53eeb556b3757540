import {
  DEFAULT_LIMIT,
  type ListParamName,
  listParamNames,
  MAX_CURSOR_LENGTH,
  MAX_LIMIT,
} from '../orders/list-params.ts'
import { sorts } from '../orders/order-store.ts'
import { orderStatuses, paymentMethods } from '../orders/statuses.ts'
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

const listOf = (description: string, values: readonly string[], example: string): Parameter => ({
  description: `${description} Lista separada por vírgulas ou parâmetro repetido.`,
  schema: { type: 'array', minItems: 1, items: { type: 'string', enum: [...values] } },
  style: 'form',
  explode: false,
  example: [example],
})

const parameters = {
  limit: {
    description: 'Pedidos por página.',
    schema: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
    example: DEFAULT_LIMIT,
  },
  cursor: {
    description:
      'O `next_cursor` da página anterior, exatamente como recebido; vale só para a mesma conta, os mesmos filtros e o mesmo `sort`.',
    schema: { type: 'string', minLength: 1, maxLength: MAX_CURSOR_LENGTH },
  },
  status: listOf('Pedidos com um destes status.', orderStatuses, 'PAID'),
  payment_method: listOf(
    'Pedidos cujo último pagamento tem um destes métodos (`payment.method`).',
    paymentMethods,
    'PIX',
  ),
  created_gte: instant('Pedidos criados neste instante ou depois.', FROM),
  created_lt: instant('Pedidos criados antes deste instante.', UNTIL),
  updated_gte: instant(
    'Pedidos com `updated_at` neste instante ou depois; nunca traz pedidos com `updated_at` nulo.',
    FROM,
  ),
  updated_lt: instant(
    'Pedidos com `updated_at` antes deste instante; nunca traz pedidos com `updated_at` nulo.',
    UNTIL,
  ),
  sort: {
    description:
      '`created_at_desc`: por `created_at` e `id` decrescentes, para exibir ou exportar; nenhum pedido que já existia quando a primeira página foi lida se repete ou falta. `updated_at_asc`: por `updated_at` e `id` crescentes, nulos no fim, para manter uma cópia em dia; nenhum pedido falta, e um que mudou durante a leitura aparece de novo (deduplique por `id`).',
    schema: { type: 'string', enum: [...sorts], default: 'created_at_desc' },
    example: 'updated_at_asc',
  },
} as const satisfies Record<ListParamName, Parameter>

// Any text: what is no preference or no tag of ours is passed over.
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

/** The headers that a caller may send, on both routes. */
export function headerParameters() {
  return Object.entries(requestHeaders).map(([name, header]) => {
    return { name, in: 'header', required: false, ...header }
  })
}

/** The query parameters of `GET /v1/orders`. */
export function listParameters() {
  return listParamNames.map((name) => ({ name, in: 'query', required: false, ...parameters[name] }))
}
