import type { FastifyError } from 'fastify'
import { limitHelp } from '../../lib/page-limit.ts'
import {
  IngestionUnavailable,
  type IngestionUnavailableCode,
} from '../../management/ingestion/ingestion-unavailable.ts'
import { MAX_LINES } from '../../management/ingestion/source-lines.ts'
import { MAX_NAME_LENGTH } from '../../management/keys/key-grant.ts'
import { MAX_OWN_KEYS } from '../../management/keys/key-management.ts'
import { ManagementError, type ManagementErrorCode } from '../../management/management-error.ts'
import { ImpossibleMoveError } from '../../management/sandbox/impossible-move.ts'
import { MAX_SANDBOX_ORDERS } from '../../management/sandbox/sandbox-management.ts'
import {
  MAX_SUBJECT_LENGTH,
  MAX_TTL_SECONDS,
  MIN_TTL_SECONDS,
} from '../../management/sessions/sessions.ts'
import { MAX_OWN_ENDPOINTS } from '../../webhooks/management/endpoint-settings.ts'
import { WebhookError, type WebhookErrorCode } from '../../webhooks/management/webhook-error.ts'
import { ApiError, type ApiErrorDetails } from '../api-error.ts'
import { MAX_LIST_ITEMS } from './list-page.ts'

const KIB = 1_024
const MIB = 1_024 * KIB

/** The limits of the route that rejected a request. */
interface RouteLimits {
  /** Of the body, in bytes. */
  bodyLimit?: number | undefined
}

/** The response to an error of the domain; `undefined` for any other error. */
export function toManagementApiError(thrown: unknown, limits: RouteLimits): ApiError | undefined {
  if (thrown instanceof ManagementError || thrown instanceof WebhookError) {
    const message =
      thrown instanceof ImpossibleMoveError ? possibleMovesMessage(thrown) : MESSAGES[thrown.code]
    const param = PARAMS[thrown.code]
    const details = { message, cause: thrown, ...(param !== undefined && { param }) }
    if (thrown.kind === 'not_found') return new ApiError('resource_missing', details)
    if (thrown.kind === 'conflict') {
      return new ApiError('conflict', { ...details, ...RETRIES[thrown.code] })
    }
    return new ApiError('invalid_request', details)
  }
  if (thrown instanceof IngestionUnavailable) {
    const message = UNAVAILABLE[thrown.code]
    return new ApiError('service_unavailable', { message, cause: thrown })
  }
  const { code, statusCode, validation } = Object(thrown) as Partial<FastifyError>
  if (validation !== undefined) return invalidQuery(validation)
  // The client disconnected within its body: Fastify gives that error a status, a store gives none.
  if (code === 'ECONNRESET' && statusCode === 400) return new ApiError('invalid_request')
  return code === undefined ? undefined : BODY_ERRORS[code]?.(limits)
}

function possibleMovesMessage({ possible }: ImpossibleMoveError): string {
  return possible.length === 0
    ? 'O pedido foi apagado, e nada mais muda nele. Crie outro.'
    : `O pedido não permite esta mudança agora. Possíveis: ${possible.join(', ')}.`
}

/** Every query parameter is a text, so only a repeated one is not valid. */
function invalidQuery([error]: NonNullable<FastifyError['validation']>): ApiError {
  const param = error?.instancePath.split('/')[1] ?? ''
  return new ApiError('invalid_request', { param, message: `Envie ${param} uma única vez.` })
}

const BODY_ERRORS: Record<string, (limits: RouteLimits) => ApiError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ({ bodyLimit = 0 }) =>
    new ApiError('invalid_request', {
      status: 413,
      message: `O corpo é maior que ${sizeText(bodyLimit)}, o limite desta chamada. Envie menos dados, ou divida-os em mais chamadas.`,
    }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new ApiError('invalid_request', {
      status: 415,
      message: 'Envie o corpo como "Content-Type: application/json".',
    }),
  FST_ERR_CTP_INVALID_JSON_BODY: () =>
    new ApiError('invalid_request', { message: 'O corpo não é um JSON válido.' }),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => new ApiError('invalid_request'),
}

/** Every limit is a whole number of one of these units. */
function sizeText(bytes: number): string {
  return bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes / KIB} KiB`
}

/** No line is confirmed, so each ends with the same next step. */
const UNAVAILABLE: Record<IngestionUnavailableCode, string> = {
  store:
    'O armazenamento dos pedidos não respondeu. Nenhum pedido foi confirmado: envie todos de novo.',
  other_writer:
    'Outro processo grava os pedidos agora (index load, index watch, index reindex, ou serve, com pedidos enviados). Nenhum pedido foi confirmado: envie todos de novo quando ele terminar.',
  clock:
    'O relógio do servidor não permite gravar agora. Nenhum pedido foi confirmado: acerte o relógio e envie todos de novo.',
  stream_full:
    'Há pedidos demais na fila do index watch. Nenhum pedido foi confirmado: envie todos de novo mais tarde.',
  busy: 'Há chamadas demais ao mesmo tempo. Nenhum pedido foi confirmado: envie todos de novo.',
}

/** The field of the request that each error is about. */
const PARAMS: Partial<Record<ManagementErrorCode | WebhookErrorCode, string>> = {
  invalid_name: 'name',
  invalid_scopes: 'scopes',
  invalid_expiry: 'expires_in_seconds',
  invalid_overlap: 'overlap_seconds',
  invalid_subject: 'subject',
  invalid_capabilities: 'capabilities',
  invalid_ttl: 'ttl_seconds',
  invalid_list: 'body',
  too_many_lines: 'body',
  invalid_scenario: 'scenario',
  invalid_url: 'url',
  invalid_events: 'events',
  invalid_payload: 'payload',
  invalid_description: 'description',
  invalid_limit: 'limit',
  invalid_since: 'since',
}

/** The conflicts that end by themselves. */
const RETRIES: Partial<
  Record<ManagementErrorCode | WebhookErrorCode, Pick<ApiErrorDetails, 'retryAfterSeconds'>>
> = {
  delivery_busy: { retryAfterSeconds: 1 },
}

const MESSAGES: Record<ManagementErrorCode | WebhookErrorCode, string> = {
  invalid_account: 'O id da conta tem de 1 a 64 letras, dígitos, "_" ou "-".',
  invalid_name: `O nome tem no máximo ${MAX_NAME_LENGTH} caracteres, sem caracteres de controle.`,
  invalid_scopes:
    'Envie em scopes uma lista com "orders:read" ou com "orders:read_masked", ou vazia.',
  invalid_expiry: 'A chave expiraria na hora. Envie um prazo maior.',
  invalid_overlap: 'O prazo em que valem os dois segredos é longo demais.',
  invalid_subject: `Envie em subject quem usa o painel, com 1 a ${MAX_SUBJECT_LENGTH} caracteres em uma linha.`,
  invalid_capabilities:
    'Envie em capabilities uma lista com um ou mais destes: keys, webhooks, usage, orders.',
  invalid_ttl: `Envie em ttl_seconds um número de ${MIN_TTL_SECONDS} a ${MAX_TTL_SECONDS}.`,
  invalid_list:
    'Envie uma lista JSON de pedidos, ou um pedido por linha com "Content-Type: application/x-ndjson".',
  too_many_lines: `Envie no máximo ${MAX_LINES} pedidos por chamada.`,
  account_blocked: 'A conta está bloqueada. Desbloqueie-a antes.',
  too_many_keys: `A conta já tem ${MAX_OWN_KEYS} chaves ativas, o máximo no painel em cada modo. Revogue uma e tente de novo.`,
  key_missing: 'Esta conta não tem uma chave com este id. A lista de chaves mostra os ids.',
  invalid_scenario: 'Envie em scenario um id de GET /v1/sandbox-scenarios.',
  sandbox_full: `O sandbox desta conta já tem ${MAX_SANDBOX_ORDERS} pedidos. Apague um deles com erase, e crie de novo.`,
  sandbox_order_missing: 'O sandbox desta conta não tem um pedido com este id.',
  impossible_move: 'O pedido não permite esta mudança.',
  key_inactive: 'A chave já expirou ou foi revogada. Crie uma nova.',
  invalid_url: 'Envie uma URL https pública, na porta 443 ou 8443, sem usuário, senha e fragmento.',
  invalid_events: 'Envie em events tipos de evento que existem, ou ["*"] para todos.',
  invalid_payload: 'Envie em payload "full" ou "thin".',
  invalid_description: 'A descrição é longa demais ou tem caracteres de controle.',
  invalid_limit: limitHelp(MAX_LIST_ITEMS),
  invalid_since: 'Envie em since um instante que já passou, dentro do prazo de retenção.',
  endpoint_missing: 'Esta conta não tem um endpoint com este id.',
  delivery_missing: 'Esta conta não tem uma entrega com este id.',
  too_many_endpoints: `A conta já tem ${MAX_OWN_ENDPOINTS} endpoints, o máximo no painel em cada modo. Remova um e tente de novo.`,
  endpoint_deleted: 'O endpoint foi removido, e nada mais é enviado a ele.',
  endpoint_disabled: 'O endpoint está desativado. Ative-o antes.',
  order_removed: 'A conta não tem mais este pedido, e ele não pode ser enviado de novo.',
  secrets_missing:
    'Este serviço não tem segredos para webhooks. Configure WEBHOOK_SECRETS e tente de novo.',
  delivery_busy: 'A entrega está sendo enviada agora. Tente de novo em instantes.',
}
