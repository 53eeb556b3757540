import { ExpectedError } from '../lib/errors/expected-error.ts'

interface ErrorSpec {
  status: number
  type:
    | 'authentication_error'
    | 'permission_error'
    | 'invalid_request_error'
    | 'rate_limit_error'
    | 'api_error'
  message: string
}

/** The closed catalogue of error responses; `openapi/openapi.json` is generated from it. */
export const errorCatalogue = {
  invalid_request: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A requisição não é válida. Confira o endereço, os cabeçalhos e os parâmetros.',
  },
  invalid_api_key: {
    status: 401,
    type: 'authentication_error',
    message:
      'Chave de API ausente ou inválida. Envie o cabeçalho "Authorization: Bearer <API_KEY>" com uma chave ativa; você pode criar uma nova nas configurações da sua conta.',
  },
  account_blocked: {
    status: 403,
    type: 'permission_error',
    message: 'A conta dona desta chave está bloqueada. Fale com o suporte para liberar o acesso.',
  },
  insufficient_access: {
    status: 403,
    type: 'permission_error',
    message:
      'Esta chave não tem permissão de leitura de pedidos. Use uma chave com o acesso "orders:read" ou "orders:read_masked".',
  },
  resource_missing: {
    status: 404,
    type: 'invalid_request_error',
    message:
      'Recurso não encontrado. Confira o método, o endereço e o id do pedido, e se a chave é de uma conta que participa dele.',
  },
  rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    message:
      'Limite de requisições excedido. Aguarde o número de segundos do cabeçalho Retry-After e tente de novo.',
  },
  internal_error: {
    status: 500,
    type: 'api_error',
    message:
      'Erro inesperado do nosso lado. Tente de novo; se continuar, fale com o suporte e informe o request_id.',
  },
  service_unavailable: {
    status: 503,
    type: 'api_error',
    message:
      'Serviço temporariamente indisponível. Tente de novo após o número de segundos do cabeçalho Retry-After.',
  },
} as const satisfies Record<string, ErrorSpec>

export type ErrorCode = keyof typeof errorCatalogue

/** The errors that only the management API returns. */
export const managementErrors = {
  conflict: {
    status: 409,
    type: 'invalid_request_error',
    message: 'O estado atual do recurso não permite esta operação.',
  },
  forbidden_role: {
    status: 403,
    type: 'permission_error',
    message: 'Este acesso não permite a operação. Use um token com o papel "admin".',
  },
} as const satisfies Record<string, ErrorSpec>

type AnyErrorCode = ErrorCode | keyof typeof managementErrors

/**
 * Of the management API and the console: an unknown route, file or move, or a part that a session
 * may not see.
 */
export const RESOURCE_NOT_FOUND_MESSAGE =
  'Recurso não encontrado. Confira o método, o endereço e os ids.'

const specs: Record<AnyErrorCode, ErrorSpec> = {
  ...errorCatalogue,
  ...managementErrors,
}

export interface ApiErrorDetails {
  /** The invalid query parameter. */
  param?: string
  /** Portuguese: how to correct the request. Defaults to the message of the catalogue. */
  message?: string
  /** Whole seconds, at least 1, until the client can retry. */
  retryAfterSeconds?: number
  /** A more exact status of the same class. */
  status?: 413 | 415
  cause?: unknown
}

// Every 503 carries Retry-After.
const DEFAULT_RETRY_SECONDS: Partial<Record<AnyErrorCode, number>> = {
  service_unavailable: 1,
}

/** An error response. Thrown anywhere in `http/`; `plugins/error-handler` renders it. */
export class ApiError extends ExpectedError {
  readonly code: AnyErrorCode
  readonly status: number
  readonly param: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: AnyErrorCode, details: ApiErrorDetails = {}) {
    super(details.message ?? specs[code].message, { cause: details.cause })
    this.name = 'ApiError'
    this.code = code
    this.status = details.status ?? specs[code].status
    this.param = details.param
    this.retryAfterSeconds = details.retryAfterSeconds ?? DEFAULT_RETRY_SECONDS[code]
  }
}

/** Renders the error body, as the `Error` schema of `openapi/openapi.json` defines it. */
export function renderError(error: ApiError, requestId: string): string {
  const { type } = specs[error.code]
  const { code, message, param } = error
  return JSON.stringify({ error: { type, code, message, param, request_id: requestId } })
}
