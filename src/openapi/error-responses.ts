import { ApiError, type ErrorCode, errorCatalogue, renderError } from '../http/api-error.ts'
import { unknownParamMessage } from '../http/unknown-params.ts'
import { LIMIT_HELP } from '../orders/list-params.ts'
import {
  challengeHeader,
  EXAMPLE_REQUEST_ID,
  errorCacheHeader,
  queryHeaders,
  rateLimitHeaders,
  requestIdHeader,
  retryAfterHeader,
} from './headers.ts'

/** These follow the account's rate limit, so they always carry its headers. */
const RATE_LIMITED_STATUSES: readonly number[] = [403, 404]
/** The server sends some of these before routing: malformed HTTP, and load shedding. */
const EARLY_STATUSES: readonly number[] = [400, 503]
/** The query can already be parsed when these occur. */
const QUERY_PARSED_STATUSES: readonly number[] = [400, 404, 500, 503]
const BAD_LIMIT = { param: 'limit', message: LIMIT_HELP }

type Status = (typeof errorCatalogue)[ErrorCode]['status']

const descriptions = {
  400: 'Parâmetro inválido, com o nome em `error.param`.',
  401: 'Chave ausente, malformada, inexistente, revogada ou expirada.',
  403: 'Conta bloqueada (`account_blocked`) ou chave sem o acesso da rota (`insufficient_access`).',
  404: 'Pedido inexistente ou de outra conta.',
  429: 'Limite da conta excedido, ou IP bloqueado por falhas de autenticação (sem os cabeçalhos `RateLimit-*`).',
  500: 'Erro inesperado; informe o `request_id` ao suporte.',
  503: 'Indisponibilidade temporária; tente de novo após `Retry-After` (sem os cabeçalhos `RateLimit-*` quando a chave não pôde ser conferida ou o primeiro uso dela, registrado).',
} as const satisfies Record<Status, string>

/** The error responses of an operation, each with an example of every code it can carry. */
export function errorResponses(...statuses: Status[]) {
  return Object.fromEntries(statuses.map((status) => [status, errorResponse(status)]))
}

function errorResponse(status: Status, fault = BAD_LIMIT) {
  return {
    description: descriptions[status],
    headers: {
      ...requestIdHeader,
      ...(status === 401
        ? challengeHeader
        : rateLimitHeaders({ always: RATE_LIMITED_STATUSES.includes(status) })),
      ...errorCacheHeader({ always: !EARLY_STATUSES.includes(status) }),
      ...(QUERY_PARSED_STATUSES.includes(status) && queryHeaders),
      ...((status === 429 || status === 503) && retryAfterHeader),
    },
    content: errorContent(
      codesOf(status).map((code) => [
        code,
        new ApiError(code, code === 'invalid_request' ? fault : {}),
      ]),
    ),
  }
}

/** The only 400 of a route without query parameters. */
export function strictErrorResponse() {
  const description = 'Parâmetro desconhecido; só com `Prefer: handling=strict`.'
  const fault = { param: 'expand', message: unknownParamMessage('expand', []) }
  return { ...errorResponse(400, fault), description }
}

function codesOf(status: Status): ErrorCode[] {
  const codes = Object.keys(errorCatalogue) as ErrorCode[]
  return codes.filter((code) => errorCatalogue[code].status === status)
}

/** The body of a response with one of these errors, and each as the service renders it. */
export function errorContent(errors: readonly (readonly [name: string, error: ApiError])[]) {
  const examples = errors.map(([name, error]) => [
    name,
    { value: JSON.parse(renderError(error, EXAMPLE_REQUEST_ID)) },
  ])
  return {
    'application/json': {
      schema: { $ref: '#/components/schemas/Error' },
      examples: Object.fromEntries(examples),
    },
  }
}
