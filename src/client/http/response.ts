import { parseJson } from '../../lib/text/json.ts'
import {
  ApiError,
  EdgeError,
  type OrdersError,
  type ResponseMeta,
  UnexpectedResponseError,
} from '../errors.ts'
import type { ErrorBody } from '../schema.ts'

/** A response whose body was read completely. */
export interface ReceivedResponse {
  url: string
  status: number
  headers: Headers
  text: string
}

/** The JSON body of a 200, which may still be no response of this API. */
export interface JsonResponse {
  body: unknown
  requestId: string | null
}

/**
 * Parses a 200 with JSON.
 * @throws ApiError, EdgeError, UnexpectedResponseError
 */
export function parseResponse(response: ReceivedResponse): JsonResponse {
  const { status, headers, text } = response
  const json = parse(text)
  if (status === 200 && json !== undefined) {
    return { body: json, requestId: headers.get('request-id') }
  }
  throw isErrorBody(json) ? new ApiError(json.error, metaOf(response)) : toForeignError(response)
}

function metaOf({ status, headers }: ReceivedResponse): ResponseMeta {
  return {
    status,
    requestId: headers.get('request-id'),
    retryAfterSeconds: retryAfterSeconds(headers),
  }
}

/** Whole seconds. A date is compared with the `Date` header: the local clock may be wrong. */
function retryAfterSeconds(headers: Headers): number | null {
  const text = headers.get('retry-after')?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const ms = Date.parse(text) - Date.parse(headers.get('date') ?? '')
  return Number.isNaN(ms) ? null : Math.max(0, Math.ceil(ms / 1000))
}

/** The error of a response that is not the service's: from the edge, or from a wrong address. */
function toForeignError(response: ReceivedResponse): OrdersError {
  const meta = metaOf(response)
  const { status, url, headers } = response
  const isEdge = !headers.has('request-id')
  if (isEdge && status === 429) {
    const seconds = meta.retryAfterSeconds
    return new EdgeError(
      `A borda da rede recusou por volume (429): são muitas requisições deste endereço IP. Espere ${seconds === null ? 'alguns minutos' : `${seconds} s`}.`,
      meta,
    )
  }
  if (isEdge && status === 403) {
    return new EdgeError(
      'O firewall da borda recusou a requisição (403). Confira se não há nada estranho nos parâmetros; se não houver, fale com o suporte e informe o horário.',
      meta,
    )
  }
  if (isEdge && status >= 500) {
    return new EdgeError(
      `O balanceador respondeu ${status}: o serviço não atendeu. Tente de novo em instantes.`,
      meta,
    )
  }
  if (isEdge && status === 400 && url.startsWith('http:')) {
    return new EdgeError(
      'A API só atende por HTTPS: use https:// no endereço e troque a chave, que trafegou sem proteção.',
      meta,
    )
  }
  return new UnexpectedResponseError(`${describe(response)} ${HELP}`, meta)
}

const HELP =
  'Confira o endereço da API e se um proxy ou um portal de rede está respondendo no lugar dela.'

function describe({ url, status, headers, text }: ReceivedResponse): string {
  const address = withoutQuery(url)
  if (status >= 300 && status < 400) {
    const target = withoutQuery(headers.get('location') ?? 'sem Location')
    return `O servidor em ${address} redireciona para outro endereço (${status}, ${target}), e a chave não é enviada para lá.`
  }
  const type = headers.get('content-type') ?? 'sem tipo'
  const length = text.length === 1 ? '1 caractere' : `${text.length} caracteres`
  const body = text === '' ? 'sem corpo' : `${type}, ${length}`
  return `A resposta de ${address} não é desta API (${status}, ${body}).`
}

/** A filter has the data of a customer, which must not be in a log. */
const withoutQuery = (url: string) => url.replace(/[?#].*$/s, '')

function isErrorBody(json: unknown): json is ErrorBody {
  const error = (json as Partial<ErrorBody> | null | undefined)?.error
  return typeof error?.code === 'string' && typeof error.message === 'string'
}

function parse(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
