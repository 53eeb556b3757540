import { setImmediate } from 'node:timers/promises'
import { Client, errors, Serializer } from '@opensearch-project/opensearch'
import { Unavailable } from '../../../lib/errors/unavailable.ts'
import type { OwnedBytes } from '../../../lib/owned-bytes.ts'
import {
  ClientDisconnected,
  callTimeoutMs,
  type RequestScope,
  unbounded,
} from '../../../lib/request-scope.ts'
import { parseJson } from '../../../lib/text/json.ts'
import {
  DeadlineConnection,
  type RawRequest,
  type RawResponse,
} from './connection/deadline-connection.ts'
import { NodePool } from './connection/node-pool.ts'
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
  | 'get_orders'
  | 'get_key'
  | 'get_account'
  | 'update_key'

/** The client's option for a deadline, in milliseconds. */
export interface CallOptions {
  requestTimeout: number
}

/** Sends one request with the given options. */
type RequestFn<B> = (options: CallOptions) => PromiseLike<{ body: B }>

/** Creates a client of the nodes. It sends no request yet. */
export function connectOpenSearch({ urls, ca }: OpenSearchNodes): OpenSearch {
  const auth = urls.map(credentials).find((found) => found !== undefined)
  return new Client({
    nodes: urls.map(withoutCredentials), // So that no error or log line contains them.
    ...(auth && { auth }),
    Connection: DeadlineConnection,
    ConnectionPool: NodePool,
    ...(ca !== undefined && { ssl: { ca } }),
    maxRetries: 0, // The client's retries have no pause and ignore the deadline.
    Serializer: ProtoSafeSerializer,
  })
}

/** Parses a tracking key `__proto__` too, which the client's own serializer rejects. */
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
 * Reads within one deadline, which covers the response body. After a connection error it retries
 * once within the deadline, on another node if possible.
 * @throws Unavailable, or RequestRejectedError
 */
export async function read<B>(deadlineMs: number, call: RequestFn<B>): Promise<B> {
  const endsAt = performance.now() + deadlineMs
  try {
    return await execute(call, deadlineMs)
  } catch (error) {
    const leftMs = Math.floor(endsAt - performance.now())
    if (!(error instanceof errors.ConnectionError) || leftMs <= 0) throw toStoreError(error)
    await setImmediate() // Until the pool has noticed all connections that broke together.
    return await write(leftMs, call)
  }
}

/**
 * Writes within one deadline, without a retry.
 * @throws Unavailable when the outcome is unknown, or RequestRejectedError
 */
export async function write<B>(deadlineMs: number, call: RequestFn<B>): Promise<B> {
  try {
    return await execute(call, deadlineMs)
  } catch (error) {
    throw toStoreError(error)
  }
}

/**
 * Reads like {@link read} and returns the bytes of the response, also of the 404 for a missing
 * document. When `scope` reports a disconnect, the request is aborted. This closes its connection,
 * so OpenSearch cancels the task.
 * @throws Unavailable, ClientDisconnected, or RequestRejectedError
 */
export function readRaw(
  { transport, connectionPool }: OpenSearch,
  deadlineMs: number,
  request: RawRequest,
  scope: RequestScope = unbounded,
): Promise<OwnedBytes> {
  return read(callTimeoutMs(scope, deadlineMs), async ({ requestTimeout }) => {
    const node = transport.getConnection({ requestId: '' }) as DeadlineConnection
    try {
      const response = await node.sendRaw(request, requestTimeout, scope)
      if (response.status >= 400 && !isDocumentMissing(request, response))
        throw toResponseError(response.status, bodyOf(response))
      connectionPool.markAlive(node)
      return { body: response.bytes }
    } catch (error) {
      if (isNodeFailure(error, requestTimeout >= deadlineMs)) connectionPool.markDead(node)
      throw error
    }
  })
}

function isDocumentMissing({ body }: RawRequest, { status }: RawResponse): boolean {
  return body === undefined && status === NOT_FOUND
}

/** Parses the bytes of a response. @throws Unavailable when they are no JSON */
export function parseResponse(bytes: Buffer): object {
  try {
    return Object(parseJson(strictUtf8.decode(bytes)))
  } catch {
    throw new Unavailable(NOT_JSON) // The message of the caught error quotes the response.
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/** Whether the node failed. A timeout indicates that only if the call had the whole deadline. */
function isNodeFailure(error: unknown, hadFullDeadline: boolean): boolean {
  if (error instanceof ClientDisconnected) return false
  if (error instanceof errors.TimeoutError) return hadFullDeadline
  return !(error instanceof errors.ResponseError) || [502, 503, 504].includes(error.statusCode ?? 0)
}

/** For a response of a proxy the status is enough. */
function bodyOf({ bytes }: RawResponse): object {
  try {
    return parseResponse(bytes)
  } catch {
    return {}
  }
}

/** The client's error for a response, or for one of several in a response. */
export function toResponseError(status: number, body: object): Error {
  const meta = {} as ConstructorParameters<typeof errors.ResponseError>[0]['meta']
  return new errors.ResponseError({ statusCode: status, headers: {}, body, warnings: null, meta })
}

async function execute<B>(call: RequestFn<B>, requestTimeout: number): Promise<B> {
  const { body } = await call({ requestTimeout })
  // A proxy may return its own page with status 200.
  if (typeof body !== 'boolean' && Object(body) !== body) throw new Unavailable(NOT_JSON)
  return body
}
