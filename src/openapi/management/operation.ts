import type { TObject } from '@sinclair/typebox'
import { accountIdPattern } from '../../auth/account-ids.ts'
import type { Body } from '../../http/management/body.ts'
import { DEFAULT_LIST_ITEMS, MAX_LIST_ITEMS } from '../../http/management/list-page.ts'
import { IDEMPOTENCY_KEY } from '../../http/management/plugins/idempotency.ts'
import { STRICT_PREFERENCE } from '../headers.ts'
import type { Json } from '../schemas.ts'
import { type DomainErrorCode, failureResponses } from './errors.ts'
import { headers } from './headers.ts'
import { bodySchema } from './request-schema.ts'
import { HEX } from './schema-parts.ts'

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description: string
  schema: Record<string, Json>
  example?: Json
}

/** What a management operation adds to what all of them share. */
export interface OperationSpec {
  operationId: string
  tag: string
  summary: string
  description: string
  parameters: readonly Parameter[]
  /** Absent: a request without a body. `rules`: what the route checks beyond the fields. */
  body?: { of: Body<TObject>; example: Json; rules?: Record<string, Json> }
  /** Of a success. */
  response: { status: 200 | 201; description: string; schema: string }
  errorCodes?: readonly DomainErrorCode[]
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** Builds the operations of these paths. Each POST accepts an `Idempotency-Key`. */
export function operations(paths: Record<string, Partial<Record<Method, OperationSpec>>>) {
  return Object.fromEntries(
    Object.entries(paths).map(([path, specs]) => {
      const built = Object.entries(specs).map(([method, spec]) => [method, operation(method, spec)])
      return [path, Object.fromEntries(built)]
    }),
  )
}

function operation(method: string, spec: OperationSpec) {
  const { operationId, tag, summary, description, parameters, body, response } = spec
  const { errorCodes = [] } = spec
  const isChange = method !== 'get'
  const isIdempotent = method === 'post'
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    parameters: [...parameters, ...(isIdempotent ? [idempotencyKey] : []), prefer],
    ...(body !== undefined && { requestBody: requestBody(body) }),
    responses: {
      [response.status]: success(response.description, response.schema, isIdempotent),
      ...failureResponses({ body: body?.of ?? null, isChange, isIdempotent, errorCodes }),
    },
  }
}

/** A successful response. `isIdempotent`: it may repeat an earlier one. */
export function success(description: string, schema: string, isIdempotent = false) {
  return {
    description,
    headers: headers(...(isIdempotent ? (['Idempotent-Replayed'] as const) : [])),
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
  }
}

function requestBody({ of, example, rules }: NonNullable<OperationSpec['body']>) {
  const hasRequiredField = (of.schema.required ?? []).length > 0
  const required = hasRequiredField || rules !== undefined
  return {
    required,
    content: { 'application/json': { schema: { ...bodySchema(of), ...rules }, example } },
  }
}

/** The account in the path. */
export const account: Parameter = {
  name: 'account',
  in: 'path',
  required: true,
  description: 'A conta: 1 a 64 letras, dígitos, `_` ou `-`.',
  schema: { type: 'string', pattern: accountIdPattern },
  example: 'acc_1',
}

/** An id in the path, with its prefix. */
export const idIn = (prefix: string, description: string): Parameter => ({
  name: 'id',
  in: 'path',
  required: true,
  description,
  schema: { type: 'string', minLength: 1 },
  example: `${prefix}_${HEX}`,
})

/** An optional parameter of the query. */
export const query = (
  name: string,
  description: string,
  schema: Parameter['schema'],
  example: Json,
): Parameter => ({ name, in: 'query', required: false, description, schema, example })

/** The parameters of every list. */
export const page: readonly Parameter[] = [
  query(
    'limit',
    'Quantos itens a página tem, no máximo.',
    { type: 'integer', minimum: 1, maximum: MAX_LIST_ITEMS, default: DEFAULT_LIST_ITEMS },
    DEFAULT_LIST_ITEMS,
  ),
  {
    name: 'cursor',
    in: 'query',
    required: false,
    description: 'O `next_cursor` da página anterior desta mesma lista.',
    schema: { type: 'string' },
  },
]

const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Um texto seu, novo a cada operação. Por 24 horas, a mesma chamada com o mesmo valor devolve a primeira resposta e não muda nada de novo.',
  schema: { type: 'string', pattern: IDEMPOTENCY_KEY.source },
  example: 'b9f6c1d2-4b0e-4f55-9a43-2f6a1d0c7e38',
}

const prefer: Parameter = {
  name: 'Prefer',
  in: 'header',
  required: false,
  description:
    '`handling=strict`: um parâmetro desconhecido dá `400` com o nome em `error.param`, em vez de ser ignorado.',
  schema: { type: 'string' },
  example: STRICT_PREFERENCE,
}
