import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { Connection, errors } from '@opensearch-project/opensearch'
import { type Dispatcher, Pool } from 'undici'
import { ClientDisconnected, type RequestScope } from '../../../lib/request-scope.ts'

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
  statusCode: number
  headers: IncomingHttpHeaders
  bytes: Buffer
}

/** Sockets to a node. A search lasts milliseconds, so these carry thousands a second. */
const MAX_SOCKETS = 64

/**
 * The client's connection to a node, through undici, with `requestTimeout` as the deadline of the
 * whole response. The client's own connection ends its timeout at the headers, so a stalled body
 * would hang forever. It also prints to standard output when a response is cut.
 */
export class DeadlineConnection extends Connection {
  readonly #pool: Pool
  /** The path of the node's URL, a prefix of every request path. */
  readonly #base: string

  constructor(options: Options) {
    super(options)
    this.#base = this.url.pathname.replace(/\/$/, '')
    this.#pool = new Pool(this.url.origin, {
      connections: MAX_SOCKETS,
      headersTimeout: 0, // Only the deadline applies.
      bodyTimeout: 0,
      ...(this.ssl?.ca && { connect: { ca: this.ssl.ca } }),
    })
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
    const registerAbort: AbortRegistration = (end) =>
      scope.onDisconnect(() => end(new ClientDisconnected()))
    const request = { path: this.#base + path, method: 'GET', headers: this.headers }
    if (body === undefined) return send(this.#pool, request, deadlineMs, registerAbort)
    const headers = { ...this.headers, 'content-type': 'application/json' }
    const search = { ...request, method: 'POST', headers, body }
    return send(this.#pool, search, deadlineMs, registerAbort)
  }

  override request(params: Params, callback: Callback): ClientRequest {
    const controller = new AbortController()
    this.#send(params, controller.signal).then(
      (response) => callback(null, response),
      (error) => callback(error, null),
    )
    // The transport uses `abort` only.
    return { abort: () => controller.abort() } as unknown as ClientRequest
  }

  override close(closed: () => void = () => {}): Connection {
    this.#pool.destroy().then(closed, closed)
    return this
  }

  async #send(params: Params, signal: AbortSignal): Promise<IncomingMessage> {
    const { path, method, headers, timeout } = this.buildRequestObject(params)
    const request = {
      path: path ?? '/',
      method: (method ?? 'GET') as 'GET',
      headers: headers as Record<string, string>,
      body: params.body ?? null,
    }
    const registerAbort: AbortRegistration = (end) => {
      const abort = () => end(new errors.RequestAbortedError('aborted'))
      signal.addEventListener('abort', abort)
      return () => signal.removeEventListener('abort', abort)
    }
    const { bytes, ...response } = await send(this.#pool, request, timeout ?? 0, registerAbort)
    return Object.assign(Readable.from([bytes], { objectMode: false }), response) as IncomingMessage
  }
}

/** Registers `end`, which aborts the request. The returned function removes the registration. */
type AbortRegistration = (end: (error: Error) => void) => () => void

/**
 * Sends a request and collects its response within one deadline. It uses undici's dispatch, because
 * streams and abort signals cost more than the request itself.
 * @throws TimeoutError or ConnectionError of the client, or the error passed to `end`
 */
function send(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  deadlineMs: number,
  registerAbort: AbortRegistration,
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let failure: Error | undefined
    let statusCode = 0
    let headers: IncomingHttpHeaders = {}
    const chunks: Buffer[] = []

    /** Works also before the dispatch, while all sockets are in use. */
    function abort(error: Error): void {
      clearTimeout(timer)
      failure ??= error
      reject(failure)
      controller?.abort(failure)
    }
    const timer = setTimeout(() => {
      abort(new errors.TimeoutError(`no complete response in ${deadlineMs} ms`, EMPTY_META))
    }, deadlineMs)
    const release = registerAbort(abort)
    if (failure !== undefined) {
      release()
      return
    }

    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started
        if (failure !== undefined) started.abort(failure)
      },
      onResponseStart(_controller, status, responseHeaders) {
        statusCode = status
        headers = responseHeaders
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk)
      },
      onResponseEnd() {
        clearTimeout(timer)
        release()
        const [first] = chunks
        const bytes = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks)
        resolve({ statusCode, headers, bytes })
      },
      onResponseError(_controller, error) {
        clearTimeout(timer)
        release()
        reject(failure ?? new errors.ConnectionError(error.message))
      },
    })
  })
}

// The transport fills it in.
const EMPTY_META = {} as ConstructorParameters<typeof errors.TimeoutError>[1]
