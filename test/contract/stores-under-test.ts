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
  /** Makes all writes visible to searches. */
  refresh(): Promise<void>
  /** Stores a document as an older schema version without this field would. */
  downgradeSchema(accountId: string, orderId: string, field: string): Promise<void>
  /** Overwrites a field that the searches sort or filter by. */
  alter(accountId: string, orderId: string, field: string, value: string | number): Promise<void>
  /** Replaces a document with one that is not a valid order, such as this one. */
  corrupt(accountId: string, orderId: string, order?: object): Promise<void>
  /** Removes a document behind the writer's back. */
  drop(accountId: string, orderId: string): Promise<void>
}

type NamedStores = [name: string, open: () => Promise<StoresUnderTest>]

/**
 * Every implementation of the store ports; the same tests run over each, in the tier of its
 * backend. Registers a hook that removes the stores after the tests of the file.
 */
export function useStores(): NamedStores[] {
  return onServices ? [['OpenSearch', useOpenSearch(1)]] : [['SQLite', openSqlite]]
}

/** The same, and OpenSearch with three shards: for tests whose argument depends on shards. */
export function useStoresByShards(): NamedStores[] {
  return onServices ? [...useStores(), ['OpenSearch with 3 shards', useOpenSearch(3)]] : useStores()
}

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

/**
 * The tests of a file share one set of indices, emptied for each: creating indices is slower than
 * most tests.
 */
function useOpenSearch(shards: number): () => Promise<StoresUnderTest> {
  let shared: Backend | undefined
  afterAll(() => shared?.remove())
  return () => {
    const isNew = shared === undefined
    shared ??= createBackend()
    return openOpenSearch(shared, shards, isNew)
  }
}

async function openOpenSearch(
  backend: Backend,
  shards: number,
  isNew: boolean,
): Promise<StoresUnderTest> {
  const { folder, env, refresh } = backend
  env['ORDERS_SHARDS'] = `${shards}`
  const prefix = `${env['INDEX_PREFIX']}`
  const opened = await openServices(parseConfig(env))
  if (!isNew) await empty(prefix, shards)
  await opened.initialize()
  if (isNew) await opensearch('PUT', `${prefix}orders-v*/_settings`, FORGETS_DELETIONS)
  await refresh()
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

const FORGETS_DELETIONS = { 'index.gc_deletes': -1 }

/**
 * Deletes all documents. The orders index forgets the versions of deleted documents at once,
 * because write timestamps start over. It is recreated where a test left another one.
 */
async function empty(prefix: string, shards: number): Promise<void> {
  const orders = `${prefix}orders-v*`
  const all = { query: { match_all: {} } }
  const indices = Object.keys(await opensearch<object>('GET', orders))
  const isReused = indices.length === 1 && indices[0] === `${prefix}orders-v1`
  if (!isReused) {
    await opensearch('DELETE', orders)
    await opensearch('PUT', `${prefix}orders-v1`, {
      aliases: { [`${prefix}orders`]: {} },
      settings: { number_of_shards: shards, ...FORGETS_DELETIONS },
    })
  }
  await opensearch('POST', `${prefix}*/_refresh`)
  await opensearch('POST', `${prefix}*/_delete_by_query?refresh=true`, all)
}
