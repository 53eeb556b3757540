import type { ClientRequest, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { Connection, errors } from '@opensearch-project/opensearch'
import { errorText } from '../../../../lib/errors/error-text.ts'
import { collectBytes } from '../../../../lib/http-client/body-sink.ts'
import {
  createHttpPool,
  type HttpPool,
  type PendingResponse,
} from '../../../../lib/http-client/pool.ts'
import { type PlainRequest, serializeRequest } from '../../../../lib/http-client/request.ts'
import { parseHeaders } from '../../../../lib/http-client/response-reader.ts'
import type { OwnedBytes } from '../../../../lib/owned-bytes.ts'
import { ClientDisconnected, type RequestScope } from '../../../../lib/request-scope.ts'

type Options = ConstructorParameters<typeof Connection>[0]
type Params = Parameters<Connection['request']>[0]
type Callback = Parameters<Connection['request']>[1]

/** A GET without a body; a search has one. */
export interface RawRequest {
  path: string
  body?: string
}

/** A complete response. */
export interface RawResponse {
  status: number
  bytes: OwnedBytes
  /** The status line and the headers. */
  head: string
}

/** For a call without a timeout. */
const DEFAULT_DEADLINE_MS = 30_000
/** Sockets to a node. A search lasts milliseconds, so these carry thousands a second. */
const MAX_SOCKETS = 64

/**
 * The client's connection to a node, with `requestTimeout` as the deadline of the whole response.
 * The client's own connection ends its timeout at the headers, so a stalled body would hang
 * forever. It also prints to standard output when a response is cut.
 *
 * Its connections are our own: undici copies a page twice more, and allocates for each read.
 */
export class DeadlineConnection extends Connection {
  readonly #pool: HttpPool<OwnedBytes>
  readonly #host: string
  /** The path of the node's URL, a prefix of every request path. */
  readonly #base: string
  readonly #searchHeaders: Record<string, string>

  constructor(options: Options) {
    super(options)
    const { host, origin, pathname } = this.url
    const ca = this.ssl?.ca?.toString()
    this.#host = host
    this.#base = pathname.replace(/\/$/, '')
    this.#searchHeaders = { ...this.headers, 'content-type': 'application/json' }
    this.#pool = createHttpPool({ origin, ca, size: MAX_SOCKETS, createSink: collectBytes })
  }

  /**
   * Sends a request without the client's transport and returns the bytes of the response.
   * @throws TimeoutError at the deadline, ConnectionError for a cut response, ClientDisconnected
   */
  sendRaw(
    { path, body }: RawRequest,
    deadlineMs: number,
    scope: RequestScope,
  ): Promise<RawResponse> {
    const target = { path: this.#base + path, body }
    const request: PlainRequest =
      body === undefined
        ? { ...target, method: 'GET', headers: this.headers }
        : { ...target, method: 'POST', headers: this.#searchHeaders }
    return this.#send(request, deadlineMs, (abort) =>
      scope.onDisconnect(() => abort(new ClientDisconnected())),
    )
  }

  override request(params: Params, callback: Callback): ClientRequest {
    const { path, method, headers, timeout } = this.buildRequestObject(params)
    const request = {
      method: methodOf(method),
      path: path ?? '/',
      headers: withoutLength(headers as Record<string, string>),
      body: (params.body ?? undefined) as string | Buffer | undefined,
    }
    let abort = (_error: Error): void => {}
    this.#send(request, timeout ?? DEFAULT_DEADLINE_MS, (end) => {
      abort = end
      return () => {}
    }).then(
      (response) => callback(null, toIncomingMessage(response)),
      (error) => callback(error, null),
    )
    // The transport uses `abort` only.
    return {
      abort: () => abort(new errors.RequestAbortedError('aborted')),
    } as unknown as ClientRequest
  }

  override close(closed: () => void = () => {}): Connection {
    this.#pool.close()
    closed()
    return this
  }

  /** @throws TimeoutError or ConnectionError of the client, or the error passed to `abort` */
  async #send(
    request: PlainRequest,
    deadlineMs: number,
    registerAbort: AbortRegistration,
  ): Promise<RawResponse> {
    let pending: PendingResponse<OwnedBytes> | undefined
    let ended: Error | undefined
    const abort = (error: Error): void => {
      ended ??= error
      pending?.abort(error)
    }
    const timer = setTimeout(() => abort(timedOut(deadlineMs)), deadlineMs)
    const release = registerAbort(abort)
    try {
      if (ended !== undefined) throw ended // The caller had disconnected before.
      pending = this.#pool.send(serializeRequest(request, this.#host))
      const { status, head, body } = await pending.response
      return { status, head, bytes: body }
    } catch (error) {
      throw isFinal(error) ? error : new errors.ConnectionError(errorText(error))
    } finally {
      clearTimeout(timer)
      release()
    }
  }
}

/** Registers `abort`, which ends the request. The returned function removes the registration. */
type AbortRegistration = (abort: (error: Error) => void) => () => void

/** The client's pool pings a dead node with HEAD, of which it reads the status alone. */
function methodOf(method = 'GET'): PlainRequest['method'] {
  return method === 'HEAD' ? 'GET' : (method as PlainRequest['method'])
}

/** The transport sets the length, and so does the serialization. */
function withoutLength({ 'content-length': _, ...headers }: Record<string, string>) {
  return headers
}

function toIncomingMessage({ status, head, bytes }: RawResponse): IncomingMessage {
  const stream = Readable.from([bytes], { objectMode: false })
  return Object.assign(stream, {
    statusCode: status,
    headers: parseHeaders(head),
  }) as IncomingMessage
}

function timedOut(deadlineMs: number): Error {
  return new errors.TimeoutError(`no complete response in ${deadlineMs} ms`, EMPTY_META)
}

function isFinal(error: unknown): boolean {
  return error instanceof ClientDisconnected || error instanceof errors.OpenSearchClientError
}

// The transport fills it in.
const EMPTY_META = {} as ConstructorParameters<typeof errors.TimeoutError>[1]
