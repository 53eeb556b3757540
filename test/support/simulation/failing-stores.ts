import { setTimeout as pause } from 'node:timers/promises'
import { vi } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { openOpenSearchStores } from '../../../src/stores/opensearch/stores.ts'
import type { Stores } from '../../../src/stores/stores.ts'
import {
  type Backend,
  createBackend,
  EXPIRING_LEASE,
  EXPIRING_LEASE_MS,
  opensearch,
  SHORT_DEADLINES,
} from '../stores/backend.ts'
import { createFailingWriters, type FailingWriters } from './failing-writers.ts'

export interface TroubledStores {
  backend: Backend
  stores: Stores
  writers: FailingWriters
  close(): Promise<void>
}

/** Stores on OpenSearch, and writers to them that suffer every simulated failure. */
export async function openTroubledStores(shards = 1): Promise<TroubledStores> {
  const backend = createBackend()
  backend.env['ORDERS_SHARDS'] = `${shards}`
  Object.assign(backend.env, EXPIRING_LEASE)
  const config = parseConfig({ ...backend.env, ...SHORT_DEADLINES })
  const urls = config.opensearchUrls ?? []
  const stores = openOpenSearchStores({ urls }, parseConfig(backend.env))
  await stores.initialize()
  const freed: Promise<unknown>[] = []
  const writers = createFailingWriters({
    ports: urls.map((url) => Number(new URL(url).port)),
    leaseMs: EXPIRING_LEASE_MS,
    open(port, clock) {
      const behind = openOpenSearchStores({ urls: [`http://127.0.0.1:${port}`] }, config)
      return behind.openIndex({ clock })
    },
    async fillDisk(forMs) {
      const settings = `${config.indexPrefix}orders-v*/_settings`
      const block = (on: true | null) =>
        // Retries when one of them is removed at the same moment.
        vi.waitFor(
          () => opensearch('PUT', settings, { 'index.blocks.read_only_allow_delete': on }),
          { timeout: 60_000 },
        )
      await block(true)
      const done = pause(forMs).then(() => block(null))
      done.catch(() => {}) // close() rejects with it.
      freed.push(done)
    },
  })
  return {
    backend,
    stores,
    writers,
    async close() {
      try {
        await Promise.all(freed)
      } finally {
        await stores.close()
        await backend.remove()
      }
    },
  }
}
