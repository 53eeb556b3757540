import type { ClientRequest, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { Connection, errors } from '@opensearch-project/opensearch'
import { Pool } from 'undici'
import { ClientDisconnected, type RequestScope } from '../../../lib/request-scope.ts'
import { type AbortRegistration, type RawResponse, send } from './send.ts'

type Options = ConstructorParameters<typeof Connection>[0]
type Params = Parameters<Connection['request']>[0]
type Callback = Parameters<Connection['request']>[1]

/** What is asked of a node; a search has a body. */
export interface RawRequest {
  path: string
  body?: string
}

/** Sockets to a node: a search takes milliseconds, so these carry thousands a second. */
const MAX_SOCKETS = 64

/**
 * How the client reaches a node: through undici, with `requestTimeout` as the deadline of the whole
 * answer. The client's own connection stops counting at the headers, so a body that stalls would hang for
 * ever, and it prints to standard output when an answer is cut.
 */
export class DeadlineConnection extends Connection {
  readonly #pool: Pool
  /** Of the node's address, before every path. */
  readonly #base: string

  constructor(options: Options) {
    super(options)
    this.#base = this.url.pathname.replace(/\/$/, '')
    this.#pool = new Pool(this.url.origin, {
      connections: MAX_SOCKETS,
      headersTimeout: 0, // The deadline is the only clock.
      bodyTimeout: 0,
      ...(this.ssl?.ca && { connect: { ca: this.ssl.ca } }),
    })
  }

  /**
   * Asks, past all that the client does besides, for the answer's bytes as they are.
   * @throws TimeoutError after the deadline, ConnectionError when the answer did not come whole, CallerGone
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
    // All that the transport asks of a request is that it can be aborted.
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
