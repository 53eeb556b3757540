import { DatabaseSync } from 'node:sqlite'
import { type Backend, onServices, opensearch } from './backend.ts'

/** Deletes a document directly; its version record stays unchanged. */
export async function dropDocument(
  { folder, env }: Pick<Backend, 'folder' | 'env'>,
  accountId: string,
  orderId: string,
): Promise<void> {
  if (onServices) {
    const document = `${env['INDEX_PREFIX']}orders/_doc/${accountId}:${orderId}`
    await opensearch('DELETE', `${document}?routing=${accountId}&refresh=true`)
    return
  }
  using db = new DatabaseSync(`${folder}/orders.db`)
  db.prepare('DELETE FROM orders WHERE account_id = ? AND id = ?').run(accountId, orderId)
}

/** Replaces a document with one that is not a valid order; its key fields stay. */
export async function corruptDocument(
  { folder, env }: Pick<Backend, 'folder' | 'env'>,
  accountId: string,
  orderId: string,
  order?: object,
): Promise<void> {
  if (onServices) {
    const replace = { source: 'ctx._source.order = params.order', params: { order } }
    const script = order ? replace : { source: "ctx._source.remove('order')" }
    const document = `${env['INDEX_PREFIX']}orders/_update/${accountId}:${orderId}`
    await opensearch('POST', `${document}?routing=${accountId}&refresh=true`, { script })
    return
  }
  using db = new DatabaseSync(`${folder}/orders.db`)
  const update = 'UPDATE orders SET json = ? WHERE account_id = ? AND id = ?'
  const json = order ? JSON.stringify(order) : '{"half'
  db.prepare(update).run(Buffer.from(json), accountId, orderId)
}
