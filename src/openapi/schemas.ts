import { errorCatalogue } from '../http/api-error.ts'
import { Account } from '../http/routes/account-schema.ts'
import { LIMIT_HELP } from '../orders/list-params.ts'
import { Order } from '../orders/order.ts'
import { WebhookEvent } from '../webhooks/events/event-schema.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Builds the named schemas: the order and its parts, the list envelope, the events, the error. */
export function hoistSchemas(): Record<string, Json> {
  return {
    OrderList: listSchema(
      'Order',
      'Uma página de pedidos. Não há total.',
      'Pedidos na ordem de `sort`.',
    ),
    ...schemasIn(Order),
    ...schemasIn(Account),
    ...schemasIn(WebhookEvent), // The order in it keeps its place.
    Error: errorSchema(errorCatalogue, LIMIT_HELP),
  }
}

/** The named schemas of a schema, before their parts. */
export function schemasIn(schema: object): Record<string, Json> {
  const hoisted: Record<string, Json> = {}
  hoist(JSON.parse(JSON.stringify(schema)), hoisted)
  return Object.fromEntries(Object.entries(hoisted).reverse())
}

/** Moves every schema that has a title into `into` and returns a reference to it. */
function hoist(schema: Json, into: Record<string, Json>): Json {
  if (Array.isArray(schema)) return schema.map((part) => hoist(part, into))
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.entries(schema).map(([key, part]) => [key, hoist(part, into)])
  const { title, ...rest } = Object.fromEntries(inner)
  if (typeof title !== 'string') return rest
  into[title] = rest
  return { $ref: `#/components/schemas/${title}` }
}

/** The envelope of a list. `order` says how its items are sorted. */
export const listSchema = (item: string, description: string, order: string): Json => ({
  type: 'object',
  description,
  required: ['object', 'data', 'has_more', 'next_cursor'],
  properties: {
    object: { const: 'list', type: 'string', description: 'Sempre `list`.' },
    data: {
      type: 'array',
      description: order,
      items: { $ref: `#/components/schemas/${item}` },
    },
    has_more: { type: 'boolean', description: 'Se existe uma próxima página.', examples: [false] },
    next_cursor: {
      type: ['string', 'null'],
      description: 'Valor de `cursor` para a próxima página; `null` quando `has_more` é falso.',
      examples: [null],
    },
  },
})

/** The body of an error with one of these codes. `limitMessage`: that of an invalid `limit`. */
export const errorSchema = (
  catalogue: Readonly<Record<string, { type: string }>>,
  limitMessage: string,
): Json => ({
  type: 'object',
  description: 'Corpo de todo erro do serviço.',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['type', 'code', 'message', 'request_id'],
      properties: {
        type: {
          type: 'string',
          description: 'Família do erro.',
          enum: [...new Set(Object.values(catalogue).map(({ type }) => type))],
          examples: ['invalid_request_error'],
        },
        code: {
          type: 'string',
          description: 'Código estável do erro.',
          enum: Object.keys(catalogue),
          examples: ['invalid_request'],
        },
        message: {
          type: 'string',
          description: 'Texto para uma pessoa, em português; pode mudar.',
          examples: [limitMessage],
        },
        param: {
          type: 'string',
          description: 'Parâmetro que causou o erro, quando há um.',
          examples: ['limit'],
        },
        request_id: {
          type: 'string',
          description: 'O mesmo valor do cabeçalho `Request-Id`.',
          examples: ['req_3f2a9c4e7b1d4f6a8c0e2b4d6f8a1c3e'],
        },
      },
    },
  },
})
