import { MINUTE_MS } from '../lib/durations.ts'
import { getAccount } from './get-account.ts'
import { findOrder, getOrder } from './get-order.ts'
import { createTransport, type Wait } from './http/transport.ts'
import { createListing, type OrderListing } from './listing.ts'
import {
  assertDuration,
  parseApiKey,
  parseBaseUrl,
  rejectBrowsers,
  requireOptions,
} from './options.ts'
import type { Account, ListParams, Order, WebhookEvent } from './schema.ts'
import { applyRemoval, type RemovalResult } from './sync/removals.ts'
import { type SyncOptions, type SyncResult, syncOrders } from './sync/sync.ts'
import type { SyncStore } from './sync/sync-store.ts'

export {
  ApiError,
  ConnectionError,
  EdgeError,
  MassRemovalError,
  OrdersError,
  UnexpectedResponseError,
  UsageError,
  type WebhookRejection,
  WebhookVerificationError,
} from './errors.ts'
// The public interface of the package.
export type { Wait } from './http/transport.ts'
export type { OrderListing, OrderPage } from './listing.ts'
export type * from './schema.ts'
export type { RemovalResult } from './sync/removals.ts'
export type { SyncOptions, SyncProgress, SyncResult } from './sync/sync.ts'
export {
  createMemoryStore,
  type MemoryStore,
  type SyncRun,
  type SyncState,
  type SyncStore,
} from './sync/sync-store.ts'
export {
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookBody,
  type WebhookHeaders,
} from './webhooks/verify-webhook.ts'

export interface ClientOptions {
  /** The address of the API, such as https://api.exemplo.com.br. */
  baseUrl: string | URL
  /** The account's key. Keep it in the environment or a secret store, never in the code. */
  apiKey: string
  /** The limit of one try; milliseconds, default 30 seconds, at least 1. */
  timeoutMs?: number
  /**
   * The limit of all retries of one call; milliseconds, default 15 minutes, which exceeds the
   * `Retry-After` of the edge. 0: no retries. `Infinity`: no limit. Until the API has responded
   * once, a 502, 503 or 504 is retried for about a minute, and a failed connection twice.
   */
  retryForMs?: number
  /** Called before every wait, for logging. */
  onWait?(wait: Wait): void
  /** Replaces the runtime's own, for a proxy. */
  fetch?: typeof globalThis.fetch
}

export interface CallOptions {
  /** Aborts the call, including its waits. */
  signal?: AbortSignal
}

export interface OrdersClient {
  account: {
    /** The account and the key of this client: checks a key, also one without access to orders. */
    get(options?: CallOptions): Promise<Account>
  }
  orders: {
    /**
     * The orders that match, requested as the loop advances; 100 per request by default, and fewer
     * after a request that exceeded `timeoutMs`.
     */
    list(params?: ListParams, options?: CallOptions): OrderListing
    /** One order. @throws ApiError `resource_missing` if it is missing or another account's */
    get(id: string, options?: CallOptions): Promise<Order>
    /** Brings a store up to date. */
    sync(options: SyncOptions): Promise<SyncResult>
    /**
     * Deletes the order of a verified `order.removed` event from a store, also while `sync` runs on
     * the same store object. Other events are ignored: `sync` brings what they announce.
     */
    applyRemoval(event: WebhookEvent, options: RemovalOptions): Promise<RemovalResult>
  }
}

export interface RemovalOptions extends CallOptions {
  /** The same object as of `sync`; it has `remove`. */
  store: SyncStore
}

const TIMEOUT_MS = 30_000
const RETRY_FOR_MS = 15 * MINUTE_MS
/** The longest delay of a timer; a longer one would end at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/**
 * A client of the Orders API for servers: Node 20.3 or later, Deno, Bun. It stays within the
 * account's rate limit, honors `Retry-After` and retries transient failures.
 * @throws UsageError for an invalid address, key or time limit
 */
export function createOrdersClient(options: ClientOptions): OrdersClient {
  rejectBrowsers()
  requireOptions(options)
  const baseUrl = parseBaseUrl(options.baseUrl)
  const apiKey = parseApiKey(options.apiKey)
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS
  const retryForMs = options.retryForMs ?? RETRY_FOR_MS
  assertDuration('timeoutMs', timeoutMs, { minMs: 1, maxMs: MAX_TIMEOUT_MS })
  assertDuration('retryForMs', retryForMs)
  const transport = createTransport({
    baseUrl,
    apiKey,
    fetch: options.fetch ?? globalThis.fetch,
    timeoutMs,
    retryForMs,
    onWait: options.onWait ?? (() => {}),
  })

  return {
    account: { get: ({ signal } = {}) => getAccount(transport, signal) },
    orders: {
      list: (params = {}, { signal } = {}) => createListing(transport, params, signal),
      get: (id, { signal } = {}) => getOrder(transport, id, signal),
      sync: (sync) => syncOrders(transport, { url: baseUrl, apiKey }, sync),
      applyRemoval: (event, { store, signal }) =>
        applyRemoval(event, {
          store,
          signal,
          readOrder: (id) => findOrder(transport, id, signal),
        }),
    },
  }
}
