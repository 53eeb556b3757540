import { setTimeout as sleep } from 'node:timers/promises'
import { parseConfig } from '../../../src/config/config.ts'
import type { OrderIndex, ViewWrite } from '../../../src/indexing/writer/order-index.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { type OpenSearch, write } from '../../../src/stores/opensearch/client/client.ts'
import { ordersDefinition } from '../../../src/stores/opensearch/index-definition.ts'
import { indexNames } from '../../../src/stores/opensearch/index-names.ts'
import { openScratch } from '../../../test/harness/processes/scratch.ts'
import type { BenchContext } from '../context.ts'
import type { IndexFigures } from '../measuring/cluster.ts'
import { CPU_RENEWAL_MS } from '../measuring/cpu.ts'
import type { Settings } from '../measuring/service.ts'

/** What it took to fill an index. */
export interface LoadEffort {
  /** From the first document until all are searchable. */
  loadSeconds: number
  /** CPU time of OpenSearch until the last merge ended, in microseconds. */
  cpuPerDocument: number
}

export type LoadedIndex = LoadEffort & IndexFigures

const BULK_DOCUMENTS = 1_000
const BULKS_IN_FLIGHT = 4
const DEADLINE_MS = 120_000
const EMBEDDED_BULK_VIEWS = 5_000
/** The JVM compiles on first use, so without a warm-up the first index would pay for all. */
const WARM_UP_DOCUMENTS = 20_000

/** Opens the stores of these settings until the end of the scope. */
export async function openStores(settings: Settings, scope: AsyncDisposableStack) {
  const services = await openServices(parseConfig(settings))
  scope.defer(() => services.close())
  return services
}

/** Fills the index of the service, with the orders of the bench by default. */
export async function fillServiceIndex(
  { cluster, config, log, orders, settings, signal }: BenchContext,
  scope: AsyncDisposableStack,
  lines: Iterator<string> = orders.bulkLines(),
) {
  const index = indexNames(config.indexPrefix).orders
  const services = await openStores(settings, scope)
  await services.initialize()
  log('loading the orders …')
  await loadDocuments(lines, { client: cluster.client, index, signal })
  await cluster.settle(index)
  return { index, services }
}

/** Opens an embedded store in a temporary folder, and returns it with the settings for a service on it. */
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
    const waiting = orders.views()
    for (;;) {
      signal.throwIfAborted()
      const views = nextOf(waiting, EMBEDDED_BULK_VIEWS)
      if (views.length === 0) return
      await writeViews(index, views)
    }
  } finally {
    await index.close()
  }
}

async function writeViews(index: OrderIndex, views: readonly ViewWrite[]): Promise<void> {
  const lock = await index.lock([])
  try {
    const transaction = await lock.begin()
    await transaction.commit({ views, removals: [], versionRecords: [] }, 'back-fill')
  } finally {
    lock.release()
  }
}

interface LoadOptions {
  client: OpenSearch
  index: string
  signal: AbortSignal
}

/**
 * Fills an index as fast as possible, with concurrent bulks; the service's writer sends one at a time.
 * @throws Error when OpenSearch rejects a document
 */
export async function loadDocuments(
  lines: Iterator<string>,
  { client, index, signal }: LoadOptions,
): Promise<void> {
  async function sendUntilDone(): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const body = Buffer.from(nextOf(lines, BULK_DOCUMENTS).join(''))
      if (body.length === 0) return
      const { errors } = await write(DEADLINE_MS, (options) =>
        client.bulk({ index, body: body as never }, options),
      )
      if (errors !== false) throw new Error(`${index} rejected a document`)
    }
  }

  await Promise.all(Array.from({ length: BULKS_IN_FLIGHT }, sendUntilDone))
}

function nextOf<T>(waiting: Iterator<T>, count: number): T[] {
  const taken: T[] = []
  while (taken.length < count) {
    const { value, done } = waiting.next()
    if (done) break
    taken.push(value)
  }
  return taken
}

/** Fills an index with the definition of the service, and removes it. */
export async function warmUpLoading(
  { cluster, orders, prefix, signal }: BenchContext,
  documents = WARM_UP_DOCUMENTS,
): Promise<void> {
  const index = `${prefix}warm-up`
  await cluster.create(index, ordersDefinition)
  const lines = orders.bulkLines().take(documents)
  await loadDocuments(lines, { client: cluster.client, index, signal })
  await cluster.settle(index)
  await cluster.remove(index)
}

/** Creates an index and fills it with all orders. */
export async function measureLoad(
  { cluster, orders, readCpu, signal, log }: BenchContext,
  { name, index, definition }: { name: string; index: string; definition: object },
): Promise<LoadEffort> {
  await cluster.create(index, definition)
  await sleep(CPU_RENEWAL_MS)
  const before = await readCpu()
  const startedAt = performance.now()
  await loadDocuments(orders.bulkLines(), { client: cluster.client, index, signal })
  await cluster.refresh(index)
  const loadSeconds = (performance.now() - startedAt) / 1000
  await cluster.settle(index)
  const after = await readCpu()
  log(`${name}: ${orders.count} orders loaded in ${loadSeconds.toFixed(1)} s`)
  return { loadSeconds, cpuPerDocument: (after.openSearch - before.openSearch) / orders.count }
}
