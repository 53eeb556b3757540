import type { Sort } from '../../../../src/orders/order-store.ts'
import {
  connectOpenSearch,
  type OpenSearchNodes,
  write,
} from '../../../../src/stores/opensearch/client/client.ts'
import { indexNames } from '../../../../src/stores/opensearch/index-names.ts'
import type { OnDecode } from '../../../../src/stores/opensearch/read/decode-orders.ts'
import { createOpenSearchOrderStore } from '../../../../src/stores/opensearch/read/order-store.ts'
import { type Behaviour, startServer } from './scripted-server.ts'

/** For what never answers, and for what answers: a busy machine must not turn one into the other. */
export const SHORT_MS = 200
export const GENEROUS_MS = 20_000

export const names = indexNames('')
const NO_FILTERS = { statuses: [], paymentMethods: [], created: {}, updated: {} }

interface ConnectOptions extends Omit<OpenSearchNodes, 'urls'> {
  deadlineMs?: number
  onDecode?: OnDecode
}

/** Nodes that do what they are told, and what is asked of them; `close` ends all of it. */
export function createScriptedNodes() {
  const closers: (() => Promise<unknown>)[] = []

  return {
    /** A node that behaves like this, one behaviour a request. */
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
        slice: (accountId = 'acc_1', sort: Sort = 'created_at_desc') =>
          store.findPage({
            accountId,
            sort,
            filters: NO_FILTERS,
            after: null,
            nullsWrittenAfter: null,
            size: 21,
          }),
        latestWrite: () => store.latestWrite('acc_1'),
        get: (orderId = 'ord_1') => store.get('acc_1', orderId),
        write: (body: object = { n: 1 }) =>
          write(deadlineMs, (options) => client.index({ index: 'orders', id: '1', body }, options)),
      }
    },

    async close() {
      for (const close of closers.splice(0).reverse()) await close()
    },
  }
}

export type Connected = ReturnType<ReturnType<typeof createScriptedNodes>['connect']>

/** What a call ends with, when it ends badly. */
export const thrownBy = (work: Promise<unknown>) => work.catch((error: unknown) => error)
