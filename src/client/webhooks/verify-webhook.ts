import { wallClock } from '../../lib/clock.ts'
import { parseJson } from '../../lib/text/json.ts'
import { UsageError, WebhookVerificationError } from '../errors.ts'
import type { WebhookEvent } from '../schema.ts'
import { decodeSecret, hasValidSignature, parseSignatures } from './signature.ts'

/** The body as received, before any JSON parser. */
export type WebhookBody = string | Uint8Array | ArrayBuffer

/** The headers of the request, in any case: `Headers`, or an object as of Node or Express. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyWebhookOptions {
  /** The greatest accepted difference between `webhook-timestamp` and `now`; default 300. */
  toleranceSeconds?: number
  /** Epoch milliseconds; default: the system clock. */
  now?(): number
}

const TOLERANCE_SECONDS = 300

/**
 * Verifies a webhook (https://www.standardwebhooks.com) and returns its event. `secrets`: those of
 * the endpoint (`whsec_…`); several while one replaces another. Any match of a secret and a
 * signature suffices.
 * @throws WebhookVerificationError when the request is no valid webhook
 * @throws UsageError for an invalid secret or option, and for a body that is already parsed
 */
export async function verifyWebhook(
  body: WebhookBody,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = wallClock }: VerifyWebhookOptions = {},
): Promise<WebhookEvent> {
  if (!(toleranceSeconds >= 0)) {
    throw new UsageError('toleranceSeconds é um número de segundos, 0 ou mais.')
  }
  const bytes = toBytes(body)
  const keys = [secrets].flat().map(decodeSecret)
  if (keys.length === 0) throw new UsageError('Falta o segredo do endpoint, que começa com whsec_.')
  const id = requireHeader(headers, 'webhook-id')
  const timestamp = requireHeader(headers, 'webhook-timestamp')
  const signatures = parseSignatures(requireHeader(headers, 'webhook-signature'))

  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), bytes)
  if (!(await hasValidSignature(signed, signatures, keys))) {
    throw new WebhookVerificationError(
      'wrong_signature',
      'Nenhuma assinatura confere. Confira se o segredo é o deste endpoint, e passe o corpo exatamente como chegou: um JSON interpretado e gerado de novo tem outros bytes.',
    )
  }
  // After the signature, so that these errors only concern requests of the service.
  checkTimestamp(timestamp, Math.floor(now() / 1000), toleranceSeconds)
  return parseEvent(bytes)
}

function toBytes(body: WebhookBody): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof Uint8Array) return body
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  throw new UsageError(
    'O corpo do webhook já foi interpretado. Passe o texto ou os bytes como chegaram: no Express, express.raw({ type: "application/json" }) nesta rota; com Request, await request.text().',
  )
}

function requireHeader(headers: WebhookHeaders, name: string): string {
  const value = headerOf(headers, name)
  if (value !== '') return value
  throw new WebhookVerificationError(
    'missing_header',
    `Falta o cabeçalho ${name}. Passe todos os cabeçalhos da requisição, e confira se um proxy não os retira; uma requisição sem ele não vem desta API.`,
  )
}

function headerOf(headers: WebhookHeaders, name: string): string {
  if (typeof headers.get === 'function') return headers.get(name) ?? ''
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)
  return [found?.[1] ?? ''].flat().join(', ')
}

function checkTimestamp(text: string, nowSeconds: number, toleranceSeconds: number): void {
  const seconds = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(seconds)) {
    throw new WebhookVerificationError(
      'invalid_timestamp',
      'O cabeçalho webhook-timestamp não é um número de segundos. Confira se um proxy o altera.',
    )
  }
  const age = nowSeconds - seconds
  if (Math.abs(age) <= toleranceSeconds) return
  const difference = `${Math.abs(age)} s; o limite é ${toleranceSeconds} s`
  const help =
    'Confira o relógio desta máquina (NTP) e se ela não guarda requisições numa fila antes de verificá-las. Responda com um erro: a próxima tentativa tem outro instante.'
  throw age > 0
    ? new WebhookVerificationError('timestamp_too_old', `O webhook tem ${difference}. ${help}`)
    : new WebhookVerificationError(
        'timestamp_too_new',
        `O webhook está adiantado em ${difference}. ${help}`,
      )
}

function parseEvent(bytes: Uint8Array): WebhookEvent {
  try {
    const event = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (isEvent(event)) return event
  } catch {
    // Neither UTF-8 nor JSON.
  }
  throw new WebhookVerificationError(
    'invalid_body',
    'A assinatura confere, mas o corpo não é um evento. Confira se o endereço só recebe os webhooks desta API.',
  )
}

function isEvent(event: unknown): event is WebhookEvent {
  const { id, type } = (event ?? {}) as Partial<WebhookEvent>
  return typeof id === 'string' && typeof type === 'string'
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length)
  whole.set(first)
  whole.set(second, first.length)
  return whole
}
