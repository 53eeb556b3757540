import type { ClientRequest, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { Connection, errors } from '@opensearch-project/opensearch'
import { Pool } from 'undici'
import { CallerGone, type RequestScope } from '../../lib/request-scope.ts'
import { exchange, type Interruption, type WholeAnswer } from './exchange.ts'

type Options = ConstructorParameters<typeof Connection>[0]
type Params = Parameters<Connection['request']>[0]
type Callback = Parameters<Connection['request']>[1]

/** What is asked of a node; a search has a body. */
export interface Question {
  path: string
  body?: string
}

/** Sockets to a node: a search takes milliseconds, so these carry thousands a second. */
const SOCKETS = 64

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
      connections: SOCKETS,
      headersTimeout: 0, // The deadline is the only clock.
      bodyTimeout: 0,
      ...(this.ssl?.ca && { connect: { ca: this.ssl.ca } }),
    })
  }

  /**
   * Asks, past all that the client does besides, for the answer's bytes as they are.
   * @throws TimeoutError after the deadline, ConnectionError when the answer did not come whole, CallerGone
   */
  ask({ path, body }: Question, deadlineMs: number, scope: RequestScope): Promise<WholeAnswer> {
    const interrupted: Interruption = (end) => scope.onGone(() => end(new CallerGone()))
    const request = { path: this.#base + path, method: 'GET', headers: this.headers }
    if (body === undefined) return exchange(this.#pool, request, deadlineMs, interrupted)
    const headers = { ...this.headers, 'content-type': 'application/json' }
    const search = { ...request, method: 'POST', headers, body }
    return exchange(this.#pool, search, deadlineMs, interrupted)
  }

  override request(params: Params, callback: Callback): ClientRequest {
    const aborted = new AbortController()
    this.#send(params, aborted.signal).then(
      (response) => callback(null, response),
      (error) => callback(error, null),
    )
    // All that the transport asks of a request is that it can be aborted.
    return { abort: () => aborted.abort() } as unknown as ClientRequest
  }

  override close(closed: () => void = () => {}): Connection {
    this.#pool.destroy().then(closed, closed)
    return this
  }

  async #send(params: Params, aborted: AbortSignal): Promise<IncomingMessage> {
    const { path, method, headers, timeout } = this.buildRequestObject(params)
    const request = {
      path: path ?? '/',
      method: (method ?? 'GET') as 'GET',
      headers: headers as Record<string, string>,
      body: params.body ?? null,
    }
    const interrupted: Interruption = (end) => {
      const abort = () => end(new errors.RequestAbortedError('aborted'))
      aborted.addEventListener('abort', abort)
      return () => aborted.removeEventListener('abort', abort)
    }
    const { bytes, ...answer } = await exchange(this.#pool, request, timeout ?? 0, interrupted)
    return Object.assign(Readable.from([bytes], { objectMode: false }), answer) as IncomingMessage
  }
}
