import { setTimeout as sleep } from 'node:timers/promises'
import { ordersDefinition } from '../../../src/stores/opensearch/index-definition.ts'
import type { BenchContext } from '../context.ts'
import type { IndexFacts } from '../measuring/cluster.ts'
import { CPU_RENEWAL_MS, type ReadCpu } from '../measuring/cpu.ts'
import { loadDocuments } from './loader.ts'

/** What it took to fill an index. */
export interface LoadEffort {
  /** From the first document until all can be searched. */
  loadSeconds: number
  /** CPU time of OpenSearch until the last merge had ended, microseconds a document. */
  cpuPerDocument: number
}

/** The same, and what has come of it. */
export type LoadedIndex = LoadEffort & IndexFacts

/** The JVM compiles what it runs for the first time, so the first index would pay for all. */
const WARM_UP_DOCUMENTS = 20_000

/** Fills an index of the service's own definition with so many orders, and removes it. */
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

/** Makes an index and fills it with all orders. */
export async function measureLoad(
  { cluster, orders, signal }: BenchContext,
  { index, definition, readCpu }: { index: string; definition: object; readCpu: ReadCpu },
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
  return { loadSeconds, cpuPerDocument: (after.openSearch - before.openSearch) / orders.count }
}
