import { DatabaseSync } from 'node:sqlite'
import { afterAll } from 'vitest'
import { parseConfig } from '../../src/config.ts'
import { openServices } from '../../src/services.ts'
import type { Stores } from '../../src/stores/stores.ts'
import { type Backend, createBackend, onServices, opensearch } from '../support/backend.ts'

/** Empty stores under test. */
export interface StoresUnderTest extends Stores {
  /** Makes what was written visible to searches. */
  refresh(): Promise<void>
  /** Leaves a document as a shape without this field would have written it. */
  age(accountId: string, orderId: string, field: string): Promise<void>
}

/** Every implementation of the ports; the same tests run over each, in the tier of its backend. */
export const stores: [name: string, open: () => Promise<StoresUnderTest>][] = [
  onServices ? ['OpenSearch', openOpenSearch] : ['SQLite', openSqlite],
]

async function openSqlite(): Promise<StoresUnderTest> {
  const backend = createBackend()
  const opened = await openServices(parseConfig(backend.env))
  return {
    ...opened,
    refresh: backend.refresh,
    async age(accountId, orderId, field) {
      using db = new DatabaseSync(`${backend.folder}/orders.db`)
      db.prepare(
        'UPDATE orders SET shape = shape - 1, json = CAST(json_remove(CAST(json AS TEXT), ?) AS BLOB) WHERE account_id = ? AND id = ?',
      ).run(`$.${field}`, accountId, orderId)
    },
    async close() {
      await opened.close()
      await backend.remove()
    },
  }
}

/** One set of indices for all tests of a file, emptied for each: making them takes a second. */
let shared: Backend | undefined
afterAll(async () => shared?.remove())

async function openOpenSearch(): Promise<StoresUnderTest> {
  shared ??= createBackend()
  const { env, refresh } = shared
  const prefix = env['INDEX_PREFIX']
  const opened = await openServices(parseConfig(env))
  // Anew, since a document that is only removed leaves its version, and here the stamps begin again.
  await opensearch('DELETE', `${prefix}orders-v*`)
  await opened.prepare()
  await refresh()
  const everything = { query: { match_all: {} } }
  await opensearch('POST', `${prefix}*/_delete_by_query?refresh=true`, everything)
  return {
    ...opened,
    refresh,
    async age(accountId, orderId, field) {
      const script = { source: `ctx._source.shape -= 1; ctx._source.order.remove('${field}')` }
      const document = `${prefix}orders/_update/${accountId}:${orderId}`
      await opensearch('POST', `${document}?routing=${accountId}&refresh=true`, { script })
    },
  }
}
