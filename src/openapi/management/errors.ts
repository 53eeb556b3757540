import type { TObject } from '@sinclair/typebox'
import { ApiError, RESOURCE_NOT_FOUND_MESSAGE } from '../../http/api-error.ts'
import { type Body, MAX_BODY_BYTES } from '../../http/management/body.ts'
import { MAX_LIST_ITEMS } from '../../http/management/list-page.ts'
import { INVALID_TOKEN } from '../../http/management/plugins/token-authentication.ts'
import { toManagementApiError } from '../../http/management/to-api-error.ts'
import { InvalidParamError } from '../../lib/errors/invalid-param-error.ts'
import { limitHelp } from '../../lib/page-limit.ts'
import {
  isManagementErrorCode,
  ManagementError,
  type ManagementErrorCode,
} from '../../management/management-error.ts'
import { WebhookError, type WebhookErrorCode } from '../../webhooks/management/webhook-error.ts'
import { errorContent } from '../error-responses.ts'
import { conflictHeaders, headers } from './headers.ts'

/** The code of an error of the domain. */
export type DomainErrorCode = ManagementErrorCode | WebhookErrorCode

/** What the error responses of an operation depend on. */
export interface Failures {
  /** `null` for a request without a body of JSON fields. */
  body: Body<TObject> | null
  isChange: boolean
  /** Whether it takes an `Idempotency-Key`, which can conflict, and which a repetition needs. */
  isIdempotent: boolean
  errorCodes: readonly DomainErrorCode[]
  /** The largest body in bytes, where it is not that of the other operations. */
  bodyLimit?: number
}

const descriptions: Record<number, string> = {
  400: 'A requisição não é válida; `error.param` traz o campo ou o parâmetro, quando há um.',
  401: 'Token ausente ou inválido.',
  403: 'A chamada muda algo, e o token só lê (`read`).',
  404: 'Não existe, ou é de outra conta.',
  409: 'O estado atual não permite a operação, ou o `Idempotency-Key` já foi usado com outro corpo. Com `Retry-After`, a primeira chamada com este `Idempotency-Key`, ou um envio da entrega, ainda está em andamento: espere e repita igual.',
  413: 'O corpo é maior que o limite da chamada, que a mensagem traz.',
  415: 'O `Content-Type` não é aceito, ou o corpo tem um `Content-Encoding`: envie-o sem compressão.',
  500: 'Erro inesperado; informe o `request_id` ao suporte.',
  503: 'Indisponibilidade temporária; repita após `Retry-After`.',
}
const UNAVAILABLE_WITH_KEY =
  'Indisponibilidade temporária; repita após `Retry-After`, com o mesmo `Idempotency-Key`.'

/** The errors that are the same for every operation. */
const common = {
  invalid_api_key: new ApiError('invalid_api_key', { message: INVALID_TOKEN }),
  forbidden_role: new ApiError('forbidden_role'),
  body_too_large: bodyTooLarge(MAX_BODY_BYTES),
  content_type: apiErrorOf({ code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' }),
  internal_error: new ApiError('internal_error'),
  service_unavailable: new ApiError('service_unavailable'),
  service_unavailable_with_key: new ApiError('service_unavailable'),
}
const CHANGE_ONLY: readonly string[] = ['forbidden_role', 'body_too_large', 'content_type']

/** The responses that operations reference. */
export function commonResponses() {
  return Object.fromEntries(
    Object.entries(common).map(([name, error]) => {
      const own = name === 'service_unavailable_with_key' && { description: UNAVAILABLE_WITH_KEY }
      return [name, { ...response(error.status, [[error.code, error]]), ...own }]
    }),
  )
}

function isCommonTo({ isChange, isIdempotent }: Failures, name: string): boolean {
  if (name === 'service_unavailable') return !isIdempotent
  if (name === 'service_unavailable_with_key') return isIdempotent
  return isChange || !CHANGE_ONLY.includes(name)
}

/** The error responses of an operation, with examples that the service renders. */
export function failureResponses(failures: Failures) {
  const { body, isIdempotent, errorCodes, bodyLimit } = failures
  const shared = Object.entries(common)
    .filter(([name]) => isCommonTo(failures, name))
    .map(([name, { status }]) => [status, { $ref: `#/components/responses/${name}` }] as const)
  const domainErrors = errorCodes.map((code) => [code, apiErrorOf(domainErrorOf(code))] as const)
  const own: (readonly [name: string, error: ApiError])[] = [
    ['invalid_request', badRequest(body)],
    ['resource_missing', new ApiError('resource_missing', { message: RESOURCE_NOT_FOUND_MESSAGE })],
    ...(isIdempotent ? [['conflict', new ApiError('conflict')] as const] : []),
    ...(bodyLimit === undefined ? [] : [['body_too_large', bodyTooLarge(bodyLimit)] as const]),
    ...domainErrors,
  ]
  const byStatus = Map.groupBy(own, ([, { status }]) => status)
  const described = [...byStatus].map(([status, errors]) => [status, response(status, errors)])
  return Object.fromEntries([...shared, ...described])
}

function response(status: number, errors: readonly (readonly [name: string, error: ApiError])[]) {
  return {
    description: descriptions[status] ?? '',
    headers: {
      ...headers(
        ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
        ...(status === 503 ? (['Retry-After'] as const) : []),
      ),
      ...(status === 409 && conflictHeaders),
    },
    content: errorContent(errors),
  }
}

function badRequest(body: Body<TObject> | null): ApiError {
  try {
    body?.parse({ campo: 1 })
  } catch (error) {
    if (!(error instanceof InvalidParamError)) throw error
    return new ApiError('invalid_request', { param: error.param, message: error.message })
  }
  return new ApiError('invalid_request', { param: 'limit', message: limitHelp(MAX_LIST_ITEMS) })
}

function domainErrorOf(code: DomainErrorCode): Error {
  return isManagementErrorCode(code) ? new ManagementError(code, '') : new WebhookError(code, '')
}

function bodyTooLarge(bodyLimit: number): ApiError {
  return apiErrorOf({ code: 'FST_ERR_CTP_BODY_TOO_LARGE' }, bodyLimit)
}

function apiErrorOf(thrown: unknown, bodyLimit = MAX_BODY_BYTES): ApiError {
  const error = toManagementApiError(thrown, { bodyLimit })
  if (error === undefined) throw new Error(`no response is defined for ${String(thrown)}`)
  return error
}
