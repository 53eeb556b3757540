import { load } from '../../src/indexing/sources/load.ts'
import type { WriteMode } from '../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../src/indexing/writer/writer.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { ndjson } from '../support/stores/services.ts'
import type { StoresUnderTest } from './stores-under-test.ts'

/**
 * Loads source orders, and makes them visible to searches. `rejectedPaths`: the paths of the
 * rejected values.
 */
export async function loadOrders(
  store: StoresUnderTest,
  orders: readonly object[],
  { clock, mode = 'history' }: { clock: Clock; mode?: WriteMode },
) {
  const rejectedPaths: string[] = []
  const index = await store.openIndex({ clock })
  const summary = await load(ndjson(orders), {
    writer: createWriter(index, clock),
    mode,
    onRejected: (_line, { path }) => rejectedPaths.push(path),
    onProgress() {},
  }).finally(() => index.close())
  await store.refresh()
  return { ...summary, rejectedPaths }
}
