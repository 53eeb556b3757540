import { afterAll } from 'vitest'
import { openSqliteWebhookStores } from '../../../src/stores/sqlite/webhooks/webhook-stores.ts'
import {
  type Backend,
  createBackend,
  onServices,
  temporaryFolder,
} from '../../support/stores/backend.ts'
import { openOpenSearchWebhooks } from '../../support/webhooks/stores/opensearch-webhooks.ts'
import {
  appendEventRecords,
  readEventRecords,
} from '../../support/webhooks/stores/sqlite-event-records.ts'
import type { WebhookStoresUnderTest } from '../../support/webhooks/stores/stores-under-test.ts'

/**
 * Every implementation of the ports for webhooks; the same tests run over each, in the tier of its
 * backend. Registers a hook that removes the stores after the tests of the file.
 */
export function useWebhookStores(): [name: string, open: () => Promise<WebhookStoresUnderTest>][] {
  return [onServices ? ['OpenSearch', useOpenSearch()] : ['SQLite', openSqlite]]
}

async function openSqlite(): Promise<WebhookStoresUnderTest> {
  const { folder: dataDir, remove } = temporaryFolder()
  const opened = [openSqliteWebhookStores({ dataDir }, 'command')] as const
  const others: { close(): Promise<void> }[] = []
  return {
    ...opened[0],
    async refresh() {},
    record: async (...records) => appendEventRecords(dataDir, records),
    storedRecords: async () => readEventRecords(dataDir),
    async openAgain() {
      const stores = openSqliteWebhookStores({ dataDir }, 'command')
      others.push(stores)
      return stores
    },
    async close() {
      for (const stores of [...opened, ...others]) await stores.close()
      remove()
    },
  }
}

/** The tests of a file share one set of indices, emptied for each, because creation is slow. */
function useOpenSearch(): () => Promise<WebhookStoresUnderTest> {
  let shared: Backend | undefined
  afterAll(() => shared?.remove())
  return () => {
    shared ??= createBackend()
    return openOpenSearchWebhooks(shared)
  }
}
