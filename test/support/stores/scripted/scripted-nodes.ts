import { afterEach } from 'vitest'
import { type RequestScope, unbounded } from '../../../../src/lib/request-scope.ts'
import { noFilters, type OrderFilters } from '../../../../src/orders/filters/filters.ts'
import type { Sort } from '../../../../src/orders/order-store.ts'
import {
  connectOpenSearch,
  type OpenSearchNodes,
  write,
} from '../../../../src/stores/opensearch/client/client.ts'
import { indexNames } from '../../../../src/stores/opensearch/indices/index-names.ts'
import type { OnDecode } from '../../../../src/stores/opensearch/read/decode-orders.ts'
import { createOpenSearchOrderStore } from '../../../../src/stores/opensearch/read/order-store.ts'
import { type Behaviour, startServer } from './scripted-server.ts'

/** Deadlines with and without a response, far enough apart for a busy machine. */
export const SHORT_MS = 200
export const GENEROUS_MS = 20_000

export const names = indexNames('')

interface FindOptions {
  filters?: OrderFilters
  size?: number
  scope?: RequestScope
}

interface ConnectOptions extends Omit<OpenSearchNodes, 'urls'> {
  deadlineMs?: number
  onDecode?: OnDecode
}

/**
 * Scripted nodes, the requests that they received, and clients of them. Registers the hook that
 * closes all of them after each test.
 */
export function useScriptedNodes() {
  const closers: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  return {
    /** Starts a node with one scripted behaviour per request. */
    async serve(...behaviours: Behaviour[]) {
      const server = await startServer(behaviours)
      closers.push(server.close)
      return server
    },

    connect(urls: string[], options: ConnectOptions = {}) {
      const { deadlineMs = GENEROUS_MS, onDecode = () => {}, ...nodes } = options
      const client = connectOpenSearch({ urls, ...nodes })
      closers.push(() => client.close())
      const store = createOpenSearchOrderStore({ client, names, deadlineMs, onDecode })
      return {
        client,
        findPage: (
          accountId = 'acc_1',
          sort: Sort = 'created_at_desc',
          { filters = noFilters, size = 21, scope = unbounded }: FindOptions = {},
        ) => {
          const start = { after: null, nullsWrittenAfter: null }
          return store.findPage({ accountId, sort, filters, size, ...start }, scope)
        },
        latestWrite: () => store.latestWrite('acc_1'),
        get: (orderId = 'ord_1') => store.get('acc_1', orderId),
        write: (body: object = { n: 1 }) =>
          write(deadlineMs, (options) => client.index({ index: 'orders', id: '1', body }, options)),
      }
    },
  }
}

export type ScriptedNodes = ReturnType<typeof useScriptedNodes>
export type Connected = ReturnType<ScriptedNodes['connect']>

/** The error of a failed call. */
export const thrownBy = (work: Promise<unknown>) => work.catch((error: unknown) => error)
