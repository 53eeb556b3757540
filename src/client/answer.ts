import { parseJson } from '../lib/json.ts'
import {
  ApiError,
  EdgeError,
  type OrdersError,
  type Refusal,
  UnexpectedAnswerError,
} from './errors.ts'
import type { ErrorBody } from './schema.ts'

/** An answer that was read to its end. */
export interface Received {
  url: string
  status: number
  headers: Headers
  text: string
}

/**
 * The JSON of a good answer.
 * @throws ApiError, EdgeError, UnexpectedAnswerError
 */
export function readAnswer(received: Received): unknown {
  const { status, text } = received
  const json = parse(text)
  if (status === 200 && json !== undefined) return json
  throw isErrorBody(json) ? new ApiError(json.error, refusalOf(received)) : judgeForeign(received)
}

function refusalOf({ status, headers }: Received): Refusal {
  return {
    status,
    requestId: headers.get('request-id'),
    retryAfterSeconds: retryAfterSeconds(headers),
  }
}

/** Whole seconds. A date is taken by the sender's own clock, whatever ours says. */
function retryAfterSeconds(headers: Headers): number | null {
  const text = headers.get('retry-after')?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const ms = Date.parse(text) - Date.parse(headers.get('date') ?? '')
  return Number.isNaN(ms) ? null : Math.max(0, Math.ceil(ms / 1000))
}

/** What came from somebody before the service: the edge, which says nothing, or whoever is at a wrong address. */
function judgeForeign(received: Received): OrdersError {
  const refusal = refusalOf(received)
  const { status, url, headers } = received
  const isEdge = !headers.has('request-id')
  if (isEdge && status === 429) {
    const seconds = refusal.retryAfterSeconds
    return new EdgeError(
      `A borda da rede recusou por volume (429): são muitas requisições deste endereço IP. Espere ${seconds === null ? 'alguns minutos' : `${seconds} segundos`}.`,
      refusal,
    )
  }
  if (isEdge && status === 403) {
    return new EdgeError(
      'O firewall da borda recusou a requisição (403). Confira se não há nada estranho nos parâmetros; se não houver, fale com o suporte e informe o horário.',
      refusal,
    )
  }
  if (isEdge && status >= 500) {
    return new EdgeError(
      `O balanceador respondeu ${status}: o serviço não atendeu. Tente de novo em instantes.`,
      refusal,
    )
  }
  if (isEdge && status === 400 && url.startsWith('http:')) {
    return new EdgeError(
      'A API só atende por HTTPS: use https:// no endereço, e troque a chave, que viajou sem proteção.',
      refusal,
    )
  }
  return new UnexpectedAnswerError(`${describe(received)} ${HELP}`, refusal)
}

const HELP =
  'Confira o endereço da API, e se não há um proxy ou um portal de rede respondendo no lugar dela.'

function describe({ url, status, headers, text }: Received): string {
  const target = headers.get('location')
  if (status >= 300 && status < 400) {
    return `Quem respondeu em ${url} manda para outro endereço (${status}, ${target ?? 'sem dizer qual'}), e a chave não vai junto.`
  }
  const type = headers.get('content-type') ?? 'sem tipo'
  const what = text === '' ? 'sem corpo' : `${type}, ${text.length} caracteres`
  return `Em ${url} veio uma resposta que não é desta API (${status}, ${what}).`
}

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
