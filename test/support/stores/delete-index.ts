import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Backend, onServices, opensearch } from './backend.ts'

/** Loses the index of the orders, and nothing of what remembers it. */
export async function deleteOrdersIndex({
  folder,
  env,
}: Pick<Backend, 'folder' | 'env'>): Promise<void> {
  if (onServices) await opensearch('DELETE', `${env['INDEX_PREFIX']}orders-v*`)
  else rmSync(join(folder, 'orders.db'))
}
