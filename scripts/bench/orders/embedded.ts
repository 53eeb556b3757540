import { parseConfig } from '../../../src/config/config.ts'
import type { ViewWrite } from '../../../src/indexing/writer/order-index.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { openScratch } from '../../../test/harness/processes/scratch.ts'
import type { BenchOrders } from './orders.ts'

/** The embedded store in a folder of its own. */
export interface EmbeddedStore {
  /** For a service on it: without OpenSearch and without Redis, and else as the bench's. */
  settings: Readonly<Record<string, string>>
  services: Services
  close(): Promise<void>
}

const BULK_VIEWS = 5_000

/** Opens an empty store, which is removed when it is closed. */
export async function openEmbedded(
  settings: Readonly<Record<string, string>>,
): Promise<EmbeddedStore> {
  const scratch = await openScratch('bench-embedded')
  try {
    const own = { OPENSEARCH_URL: '', REDIS_URL: '', DATA_DIR: scratch.path }
    const embedded = { ...settings, ...own }
    const services = await openServices(parseConfig(embedded))
    return {
      settings: embedded,
      services,
      async close() {
        await services.close()
        await scratch.close()
      },
    }
  } catch (error) {
    await scratch.close()
    throw error
  }
}

/** Writes all orders, as fast as the store takes them. */
export async function fillEmbedded(
  { services }: EmbeddedStore,
  orders: BenchOrders,
  signal: AbortSignal,
): Promise<void> {
  const index = await services.openIndex()
  try {
    const waiting = orders.views()
    for (;;) {
      signal.throwIfAborted()
      const views = nextViews(waiting)
      if (views.length === 0) return
      await index.bulk(async () => ({ views, removals: [], versionRecords: [] }))
    }
  } finally {
    await index.close()
  }
}

function nextViews(waiting: Iterator<ViewWrite>): ViewWrite[] {
  const views: ViewWrite[] = []
  while (views.length < BULK_VIEWS) {
    const { value, done } = waiting.next()
    if (done) break
    views.push(value)
  }
  return views
}
