import { DatabaseSync } from 'node:sqlite'
import { afterAll } from 'vitest'
import { parseConfig } from '../../src/config/config.ts'
import { openServices } from '../../src/services.ts'
import type { Stores } from '../../src/stores/stores.ts'
import { type Backend, createBackend, onServices, opensearch } from '../support/stores/backend.ts'
import { corruptDocument, dropDocument } from '../support/stores/damage-document.ts'
import { downgradeSchema } from '../support/stores/downgrade-schema.ts'

/** Empty stores under test. */
export interface StoresUnderTest extends Stores {
  /** Makes what was written visible to searches. */
  refresh(): Promise<void>
  /** Leaves a document as a shape without this field would have written it. */
  downgradeSchema(accountId: string, orderId: string, field: string): Promise<void>
  /** Puts a value by hand into a field that a document is searched by. */
  alter(accountId: string, orderId: string, field: string, value: string | number): Promise<void>
  /** Leaves a document by hand that is no order any more. */
  corrupt(accountId: string, orderId: string): Promise<void>
  /** Takes a document away by hand. */
  drop(accountId: string, orderId: string): Promise<void>
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
    downgradeSchema: (...document) => downgradeSchema(backend, ...document),
    async alter(accountId, orderId, field, value) {
      using db = new DatabaseSync(`${backend.folder}/orders.db`)
      const update = `UPDATE orders SET ${field} = ? WHERE account_id = ? AND id = ?`
      db.prepare(update).run(value, accountId, orderId)
    },
    corrupt: (...document) => corruptDocument(backend, ...document),
    drop: (...document) => dropDocument(backend, ...document),
    async close() {
      await opened.close()
      await backend.remove()
    },
  }
}

/** One set of indices for all tests of a file, emptied for each: creating them takes longer than most tests. */
let shared: Backend | undefined
afterAll(async () => shared?.remove())

async function openOpenSearch(): Promise<StoresUnderTest> {
  const isFirst = shared === undefined
  shared ??= createBackend()
  const { folder, env, refresh } = shared
  const prefix = env['INDEX_PREFIX']
  const opened = await openServices(parseConfig(env))
  // Only the orders are created again: a document that is removed leaves its version, and here the stamps begin again.
  if (!isFirst) {
    await opensearch('DELETE', `${prefix}orders-v*`)
    await opensearch('PUT', `${prefix}orders-v1`, { aliases: { [`${prefix}orders`]: {} } })
  }
  await opened.initialize()
  await refresh()
  const matchAll = { query: { match_all: {} } }
  await opensearch('POST', `${prefix}*/_delete_by_query?refresh=true`, matchAll)
  return {
    ...opened,
    refresh,
    downgradeSchema: (...document) => downgradeSchema({ folder, env }, ...document),
    async alter(accountId, orderId, field, value) {
      const document = `${prefix}orders/_update/${accountId}:${orderId}`
      const doc = { [field]: value }
      await opensearch('POST', `${document}?routing=${accountId}&refresh=true`, { doc })
    },
    corrupt: (...document) => corruptDocument({ folder, env }, ...document),
    drop: (...document) => dropDocument({ folder, env }, ...document),
  }
}
