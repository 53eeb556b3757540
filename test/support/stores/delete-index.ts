import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Backend, onServices, opensearch } from './backend.ts'

/** Deletes the orders index, and keeps the records that it existed. */
export async function deleteOrdersIndex({
  folder,
  env,
}: Pick<Backend, 'folder' | 'env'>): Promise<void> {
  if (onServices) await opensearch('DELETE', `${env['INDEX_PREFIX']}orders-v*`)
  else rmSync(join(folder, 'orders.db'))
}

/** Deletes keys and accounts, and keeps the orders. No process has them open. */
export async function deleteKeyStore({
  folder,
  env,
}: Pick<Backend, 'folder' | 'env'>): Promise<void> {
  const prefix = env['INDEX_PREFIX']
  if (onServices) await opensearch('DELETE', `${prefix}api-keys-v1,${prefix}accounts-v1`)
  else rmSync(join(folder, 'keys.db'))
}

/** Deletes the deliveries of webhooks, on the embedded store with the endpoints. */
export async function deleteDeliveries({
  folder,
  env,
}: Pick<Backend, 'folder' | 'env'>): Promise<void> {
  if (onServices) await opensearch('DELETE', `${env['INDEX_PREFIX']}webhook-deliveries-v1`)
  else rmSync(join(folder, 'webhooks.db'))
}
