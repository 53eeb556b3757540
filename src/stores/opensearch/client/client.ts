import { setImmediate } from 'node:timers/promises'
import { Client, errors, Serializer } from '@opensearch-project/opensearch'
import { parseJson } from '../../../lib/json.ts'
import {
  ClientDisconnected,
  callTimeoutMs,
  type RequestScope,
  unbounded,
} from '../../../lib/request-scope.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { DeadlineConnection, type RawRequest, type RawResponse } from './deadline-connection.ts'
import { NOT_FOUND, NOT_JSON, toStoreError } from './errors.ts'

export interface OpenSearchNodes {
  /** URLs; the credentials of the first that has some are for all. */
  urls: readonly string[]
  /** PEM of the authority that signed the nodes' certificates; the system's own when absent. */
  ca?: string | undefined
}

export type OpenSearch = Client

/** The kinds of request that the serving process sends; a metric label. */
export type OpenSearchOperation =
  | 'search'
  | 'latest_write'
  | 'get_order'
  | 'get_key'
  | 'get_account'
  | 'update_key'

/** The client's option for a deadline, in milliseconds. */
export interface CallOptions {
  requestTimeout: number
}

/** One request of the client, with what is left of its time. */
type RequestFn<B> = (options: CallOptions) => PromiseLike<{ body: B }>

/** A client of the nodes. Nothing is sent until it is asked. */
export function connectOpenSearch({ urls, ca }: OpenSearchNodes): OpenSearch {
  const auth = urls.map(credentials).find((found) => found !== undefined)
  return new Client({
    nodes: urls.map(withoutCredentials), // So that no error and no log line can tell them.
    ...(auth && { auth }),
    Connection: DeadlineConnection,
    ...(ca !== undefined && { ssl: { ca } }),
    maxRetries: 0, // The client retries without a pause and without an end of its time.
    Serializer: ProtoSafeSerializer,
  })
}

/** Parses answers as orders have to be, a tracking key `__proto__` included, which the client's own refuses. */
class ProtoSafeSerializer extends Serializer {
  override deserialize(json: string): unknown {
    try {
      return parseJson(json)
    } catch {
      throw new errors.DeserializationError('no JSON', json)
    }
  }
}

function credentials(url: string): { username: string; password: string } | undefined {
  const { username, password } = new URL(url)
  if (username === '') return undefined
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) }
}

function withoutCredentials(url: string): string {
  return Object.assign(new URL(url), { username: '', password: '' }).href
}

/**
 * Reads within one deadline over the whole call, the answer's body included; a connection error is tried
 * once more within it, on another node where there is one.
 * @throws Unavailable, or Error when OpenSearch refuses what was asked
 */
export async function read<B>(deadlineMs: number, call: RequestFn<B>): Promise<B> {
  const endsAt = performance.now() + deadlineMs
  try {
    return await execute(call, deadlineMs)
  } catch (error) {
    const leftMs = Math.floor(endsAt - performance.now())
    if (!(error instanceof errors.ConnectionError) || leftMs <= 0) throw toStoreError(error)
    await setImmediate() // Until every connection that broke with this one is known to be broken.
    return await write(leftMs, call)
  }
}

/**
 * Writes within one deadline, and never twice: after an `Unavailable` nobody knows whether it was done.
 * @throws Unavailable, or Error when OpenSearch refuses what was asked
 */
export async function write<B>(deadlineMs: number, call: RequestFn<B>): Promise<B> {
  try {
    return await execute(call, deadlineMs)
  } catch (error) {
    throw toStoreError(error)
  }
}

/**
 * Reads as {@link read} does, and hands over the answer's bytes as they came; also those of a 404, which a
 * document answers with that is not there. All of it within `scope`, too: when its caller disconnects the request is
 * aborted, which closes its connection, so that OpenSearch cancels the task.
 * @throws Unavailable, CallerGone, or Error when OpenSearch refuses what was asked
 */
export function readRaw(
  { transport, connectionPool }: OpenSearch,
  deadlineMs: number,
  request: RawRequest,
  scope: RequestScope = unbounded,
): Promise<Buffer> {
  return read(callTimeoutMs(scope, deadlineMs), async ({ requestTimeout }) => {
    const node = transport.getConnection({ requestId: '' }) as DeadlineConnection
    try {
      const response = await node.sendRaw(request, requestTimeout, scope)
      if (response.statusCode >= 400 && !isDocumentMissing(request, response))
        throw toResponseError(response)
      connectionPool.markAlive(node)
      return { body: response.bytes }
    } catch (error) {
      if (isNodeFailure(error, requestTimeout >= deadlineMs)) connectionPool.markDead(node)
      throw error
    }
  })
}

function isDocumentMissing({ body }: RawRequest, { statusCode }: RawResponse): boolean {
  return body === undefined && statusCode === NOT_FOUND
}

/** An answer that was had as bytes, where they have to be parsed. @throws Unavailable when it is no JSON */
export function parseResponse(bytes: Buffer): object {
  try {
    return Object(parseJson(strictUtf8.decode(bytes)))
  } catch {
    throw new Unavailable(NOT_JSON) // The error's own message would quote the answer.
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/** Whether the node is at fault: a timeout shows that only where the call had the whole deadline. */
function isNodeFailure(error: unknown, hadFullDeadline: boolean): boolean {
  if (error instanceof ClientDisconnected) return false
  if (error instanceof errors.TimeoutError) return hadFullDeadline
  return !(error instanceof errors.ResponseError) || [502, 503, 504].includes(error.statusCode ?? 0)
}

function toResponseError({ statusCode, headers, bytes }: RawResponse): Error {
  let body: object = {} // Of a machine in between the status says enough.
  try {
    body = parseResponse(bytes)
  } catch {}
  const meta = {} as ConstructorParameters<typeof errors.ResponseError>[0]['meta']
  return new errors.ResponseError({ statusCode, headers, body, warnings: null, meta })
}

async function execute<B>(call: RequestFn<B>, requestTimeout: number): Promise<B> {
  const { body } = await call({ requestTimeout })
  // A machine in between may answer 200 with a page of its own.
  if (typeof body !== 'boolean' && Object(body) !== body) throw new Unavailable(NOT_JSON)
  return body
}
