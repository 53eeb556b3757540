import type { ErrorBody } from './schema.ts'

/** What every failure of the client is. Messages are in Portuguese, as the API's own. */
export abstract class OrdersError extends Error {
  /** Of the answer, for the support; `null` where there was none, or it came from the edge. */
  readonly requestId: string | null

  constructor(message: string, requestId: string | null, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.requestId = requestId
  }
}

export interface Refusal {
  status: number
  requestId: string | null
  /** Seconds after which the call may be repeated; `null` where the answer does not say. */
  retryAfterSeconds: number | null
}

/** The service refused the call, in its own words (contract, "Errors"). */
export class ApiError extends OrdersError {
  readonly status: number
  readonly type: ErrorBody['error']['type'] | (string & {})
  /** Stable; a new one may come with a new version of the API. */
  readonly code: ErrorBody['error']['code'] | (string & {})
  /** The parameter at fault, where there is one. */
  readonly param: string | null
  readonly retryAfterSeconds: number | null

  constructor(error: ErrorBody['error'], { status, requestId, retryAfterSeconds }: Refusal) {
    super(error.message, requestId)
    this.status = status
    this.type = error.type
    this.code = error.code
    this.param = error.param ?? null
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The network's edge answered before the service was asked: no body, no request id (contract, "What the service does" 6). */
export class EdgeError extends OrdersError {
  readonly status: number
  readonly retryAfterSeconds: number | null

  constructor(message: string, { status, retryAfterSeconds }: Refusal) {
    super(message, null)
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Somebody answered who is not this API, or not as it answers: a wrong address, a portal, a proxy. */
export class UnexpectedAnswerError extends OrdersError {
  readonly status: number

  constructor(message: string, { status, requestId }: Pick<Refusal, 'status' | 'requestId'>) {
    super(message, requestId)
    this.status = status
  }
}

/** No answer, or one that was cut off. `isFinal`: to try again would change nothing. */
export class ConnectionError extends OrdersError {
  readonly isFinal: boolean

  constructor(message: string, { cause, isFinal }: { cause: unknown; isFinal: boolean }) {
    super(message, null, { cause })
    this.isFinal = isFinal
  }
}

/** A walk over everything did not see more than half of a copy. Nothing was dropped; the next one walks anew. */
export class MassRemovalError extends OrdersError {
  /** Orders that would have been dropped, of how many. */
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

/** The caller's own: an address, a key, an id or an option that cannot be right. Nothing was sent. */
export class UsageError extends OrdersError {
  constructor(message: string) {
    super(message, null)
  }
}
