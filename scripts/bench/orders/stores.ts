import { parseConfig } from '../../../src/config/config.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { type OpenSearch, write } from '../../../src/stores/opensearch/client/client.ts'
import { indexNames } from '../../../src/stores/opensearch/indices/index-names.ts'
import { openScratch } from '../../../test/harness/processes/scratch.ts'
import type { Settings } from '../../../test/harness/processes/service.ts'
import type { BenchContext } from '../context.ts'

const BULK_DOCUMENTS = 1_000
const BULKS_IN_FLIGHT = 4
const DEADLINE_MS = 120_000
const EMBEDDED_BULK_VIEWS = 5_000

/** Opens the stores of these settings until the end of the scope. */
export async function openStores(settings: Settings, scope: AsyncDisposableStack) {
  const services = await openServices(parseConfig(settings))
  scope.defer(() => services.close())
  return services
}

/** Fills the index of the service. */
export async function fillServiceIndex(
  { cluster, config, log, orders, settings, signal }: BenchContext,
  scope: AsyncDisposableStack,
) {
  const index = indexNames(config.indexPrefix).orders
  const services = await openStores(settings, scope)
  await services.initialize()
  log(`loading ${orders.count} orders …`)
  await loadDocuments(orders.bulkLines(), { client: cluster.client, index, signal })
  await cluster.settle(index)
  return { index, services }
}

/**
 * Opens an embedded store in a temporary folder, and returns it with the settings for a service on
 * it.
 */
export async function openEmbedded(settings: Settings, scope: AsyncDisposableStack) {
  const scratch = await openScratch('bench-embedded')
  scope.defer(scratch.close)
  const own = { ...settings, OPENSEARCH_URL: '', REDIS_URL: '', DATA_DIR: scratch.path }
  return { settings: own, services: await openStores(own, scope) }
}

export async function fillEmbedded(
  services: Services,
  { orders, log, signal }: BenchContext,
): Promise<void> {
  log(`loading ${orders.count} orders into the embedded store …`)
  const index = await services.openIndex()
  try {
    for (const views of inChunks(orders.views(), EMBEDDED_BULK_VIEWS)) {
      signal.throwIfAborted()
      const lock = await index.lock([])
      const transaction = await lock.begin()
      await transaction.commit(
        { views, removals: [], eventRecords: [], versionRecords: [] },
        'history',
      )
      lock.release()
    }
  } finally {
    await index.close()
  }
}

/**
 * Fills an index as fast as possible, with concurrent bulks; the service's writer sends one at a
 * time.
 * @throws Error when OpenSearch rejects a document
 */
export async function loadDocuments(
  lines: Iterable<string>,
  { client, index, signal }: { client: OpenSearch; index: string; signal: AbortSignal },
): Promise<void> {
  const chunks = inChunks(lines, BULK_DOCUMENTS)
  async function sendUntilDone(): Promise<void> {
    for (const chunk of chunks) {
      signal.throwIfAborted()
      await sendBulk(client, index, Buffer.from(chunk.join('')))
    }
  }

  await Promise.all(Array.from({ length: BULKS_IN_FLIGHT }, sendUntilDone))
}

/** @throws Error when OpenSearch rejects a document */
export async function sendBulk(client: OpenSearch, index: string, body: Buffer): Promise<void> {
  const { errors } = await write(DEADLINE_MS, (options) =>
    client.bulk({ index, body: body as never }, options),
  )
  if (errors !== false) throw new Error(`${index} rejected a document`)
}

/** Groups values; the last group may be smaller. */
export function* inChunks<T>(values: Iterable<T>, size: number): Generator<T[]> {
  let chunk: T[] = []
  for (const value of values) {
    chunk.push(value)
    if (chunk.length < size) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}
