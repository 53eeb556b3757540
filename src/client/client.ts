import { UnexpectedAnswerError, UsageError } from './errors.ts'
import { createListing, isOrder, type OrderListing } from './listing.ts'
import { parseApiKey, parseBaseUrl, refuseBrowsers } from './options.ts'
import type { ListParams, Order } from './schema.ts'
import { type SyncOptions, type SyncResult, syncOrders } from './sync.ts'
import { createTransport, type Wait } from './transport.ts'

// The package's export `./client`: all that its users may import.
export type { OrderCopy, Pass, SyncState } from './copy.ts'
export {
  ApiError,
  ConnectionError,
  EdgeError,
  MassRemovalError,
  OrdersError,
  UnexpectedAnswerError,
  UsageError,
} from './errors.ts'
export type { OrderListing, OrderPage } from './listing.ts'
export { createMemoryCopy, type MemoryCopy } from './memory-copy.ts'
export type * from './schema.ts'
export type { SyncOptions, SyncProgress, SyncResult } from './sync.ts'
export type { Wait } from './transport.ts'

export interface ClientOptions {
  /** Where the API is, such as https://api.exemplo.com.br. */
  baseUrl: string | URL
  /** An account's key. Keep it in the environment or a secret store, never in the code. */
  apiKey: string
  /** How long one try may take; milliseconds, half a minute unless told. */
  timeoutMs?: number
  /**
   * How long a call waits and tries again before it fails; milliseconds, 15 minutes unless told: longer than the
   * edge asks for after too many requests. 0: each call is tried once.
   */
  retryForMs?: number
  /** Is told of every wait, for a log. */
  onWait?(wait: Wait): void
  /** In place of the runtime's own, for a proxy. */
  fetch?: typeof globalThis.fetch
}

export interface CallOptions {
  /** Ends the call, and every wait in it. */
  signal?: AbortSignal
}

export interface OrdersClient {
  orders: {
    /** The orders that match, read as the loop goes on; 100 a request unless `limit` says otherwise. */
    list(params?: ListParams, options?: CallOptions): OrderListing
    /** One order. @throws ApiError `resource_missing` where there is none, or it is another account's */
    get(id: string, options?: CallOptions): Promise<Order>
    /** Brings a copy up to date, and says how far it is then. */
    sync(options: SyncOptions): Promise<SyncResult>
  }
}

const TIMEOUT_MS = 30_000
const RETRY_FOR_MS = 15 * 60_000

/**
 * A client of the Orders API for servers: Node 20 or later, Deno, Bun. It stays under the account's bucket, waits
 * when it is told to, and tries again what passes by itself.
 * @throws UsageError for an address or a key that cannot be right
 */
export function createOrdersClient(options: ClientOptions): OrdersClient {
  refuseBrowsers()
  const baseUrl = parseBaseUrl(options.baseUrl)
  const apiKey = parseApiKey(options.apiKey)
  const transport = createTransport({
    baseUrl,
    apiKey,
    fetch: options.fetch ?? globalThis.fetch,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    retryForMs: options.retryForMs ?? RETRY_FOR_MS,
    onWait: options.onWait ?? (() => {}),
  })

  return {
    orders: {
      list: (params = {}, { signal } = {}) => createListing(transport, params, signal),
      async get(id, { signal } = {}) {
        if (typeof id !== 'string' || !/^[A-Za-z0-9_-]+$/.test(id))
          throw new UsageError(`"${id}" não é o id de um pedido.`)
        return readOrder(await transport.get(`/v1/orders/${id}`, new URLSearchParams(), signal))
      },
      sync: (sync) => syncOrders(transport, { url: baseUrl, apiKey }, sync),
    },
  }
}

function readOrder(body: unknown): Order {
  if (isOrder(body)) return body
  throw new UnexpectedAnswerError('A resposta não é um pedido. Confira o endereço da API.', {
    status: 200,
    requestId: null,
  })
}
