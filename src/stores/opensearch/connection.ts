import type { ClientRequest, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { Connection, errors } from '@opensearch-project/opensearch'
import { Pool } from 'undici'

type Options = ConstructorParameters<typeof Connection>[0]
type Params = Parameters<Connection['request']>[0]
type Callback = Parameters<Connection['request']>[1]

/** Sockets to a node: a search takes milliseconds, so these carry thousands a second. */
const SOCKETS = 64

/**
 * How the client reaches a node: through undici, with `requestTimeout` as the deadline of the whole
 * answer. The client's own connection stops counting at the headers, so a body that stalls would hang for
 * ever, and it prints to standard output when an answer is cut.
 */
export class DeadlineConnection extends Connection {
  readonly #pool: Pool

  constructor(options: Options) {
    super(options)
    this.#pool = new Pool(this.url.origin, {
      connections: SOCKETS,
      headersTimeout: 0, // The deadline is the only clock.
      bodyTimeout: 0,
      ...(this.ssl?.ca && { connect: { ca: this.ssl.ca } }),
    })
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
    const deadline = AbortSignal.timeout(timeout ?? 0)
    try {
      const { statusCode, ...answer } = await this.#pool.request({
        path: path ?? '/',
        method: (method ?? 'GET') as 'GET',
        headers: headers as Record<string, string>,
        body: params.body ?? null,
        signal: AbortSignal.any([deadline, aborted]),
      })
      const bytes = Buffer.from(await answer.body.arrayBuffer())
      const whole = Readable.from([bytes], { objectMode: false })
      return Object.assign(whole, { statusCode, headers: answer.headers }) as IncomingMessage
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (deadline.aborted)
        throw new errors.TimeoutError(`no whole answer in ${timeout} ms`, NO_META)
      if (aborted.aborted) throw new errors.RequestAbortedError(reason)
      throw new errors.ConnectionError(reason)
    }
  }
}

// The transport fills it in.
const NO_META = {} as ConstructorParameters<typeof errors.TimeoutError>[1]
