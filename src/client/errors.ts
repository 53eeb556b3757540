import type { ErrorBody } from './schema.ts'

/** The base class of every error of the client. Messages are in Portuguese, as the API's are. */
export abstract class OrdersError extends Error {
  /** For support requests; `null` without a response, and for responses of the edge. */
  readonly requestId: string | null

  constructor(message: string, requestId: string | null, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.requestId = requestId
  }
}

/** The status line and headers of an error response. */
export interface ResponseMeta {
  status: number
  requestId: string | null
  /** Seconds until the call may be repeated; `null` without a valid `Retry-After`. */
  retryAfterSeconds: number | null
}

/** The service rejected the call; the message is the service's own (guide, "Erros"). */
export class ApiError extends OrdersError {
  readonly status: number
  readonly type: ErrorBody['error']['type'] | (string & {})
  /** Stable; a newer version of the API may add codes. */
  readonly code: ErrorBody['error']['code'] | (string & {})
  /** The invalid parameter, if the error concerns one. */
  readonly param: string | null
  readonly retryAfterSeconds: number | null

  constructor(error: ErrorBody['error'], { status, requestId, retryAfterSeconds }: ResponseMeta) {
    super(error.message, requestId)
    this.status = status
    this.type = error.type
    this.code = error.code
    this.param = error.param ?? null
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/**
 * The edge responded instead of the service: without a body and without a request id (guide,
 * "Respostas da borda").
 */
export class EdgeError extends OrdersError {
  readonly status: number
  readonly retryAfterSeconds: number | null

  constructor(message: string, { status, retryAfterSeconds }: ResponseMeta) {
    super(message, null)
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The response is not one of this API: a wrong address, a captive portal, or a proxy. */
export class UnexpectedResponseError extends OrdersError {
  readonly status: number
  readonly retryAfterSeconds: number | null

  constructor(
    message: string,
    {
      status,
      requestId,
      retryAfterSeconds = null,
    }: Omit<ResponseMeta, 'retryAfterSeconds'> & Partial<ResponseMeta>,
  ) {
    super(message, requestId)
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/**
 * No complete response arrived. `isFinal`: a retry cannot succeed. `isTimeout`: none arrived within
 * `timeoutMs`. `isHttps`: the address begins with https.
 */
export class ConnectionError extends OrdersError {
  readonly isFinal: boolean
  readonly isTimeout: boolean
  readonly isHttps: boolean

  constructor(
    message: string,
    {
      cause,
      isFinal,
      isTimeout = false,
      isHttps = true,
    }: { cause: unknown; isFinal: boolean; isTimeout?: boolean; isHttps?: boolean },
  ) {
    super(message, null, { cause })
    this.isFinal = isFinal
    this.isTimeout = isTimeout
    this.isHttps = isHttps
  }
}

/**
 * A full sync would delete more than half of the store. Nothing was deleted, and the next sync
 * reads everything again.
 */
export class MassRemovalError extends OrdersError {
  /** Orders that the sync would delete, and orders in the store. */
  readonly unseen: number
  readonly total: number

  constructor({ unseen, total }: { unseen: number; total: number }) {
    super(
      `A leitura completa não encontrou ${unseen} dos ${total} pedidos desta cópia, mais da metade. Nada foi removido. Confira com a plataforma se eles deixaram mesmo de existir; se sim, permita a remoção com allowMassRemoval (no comando: --allow-mass-removal).`,
      null,
    )
    this.unseen = unseen
    this.total = total
  }
}

/** Why a webhook was rejected. Stable, for logs and metrics. */
export type WebhookRejection =
  | 'missing_header'
  | 'unsupported_signature'
  | 'wrong_signature'
  | 'invalid_timestamp'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'invalid_body'

/** A request is not a valid webhook. Return 400 and do not use its body. */
export class WebhookVerificationError extends OrdersError {
  readonly reason: WebhookRejection

  constructor(reason: WebhookRejection, message: string) {
    super(message, null)
    this.reason = reason
  }
}

/**
 * The caller's address, key, id or option is invalid. Nothing was sent, except that a sync reads
 * the account of a new key. Nothing was stored.
 */
export class UsageError extends OrdersError {
  constructor(message: string) {
    super(message, null)
  }
}

/** Whether the service, the edge or a gateway responded 429. */
export function isRateLimited(error: unknown): boolean {
  const isResponse =
    error instanceof ApiError ||
    error instanceof EdgeError ||
    error instanceof UnexpectedResponseError
  return isResponse && error.status === 429
}
