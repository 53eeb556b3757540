import { DatabaseSync } from 'node:sqlite'
import { type Backend, onServices, opensearch } from './backend.ts'

/** Takes a document away by hand: nothing else is told of it. */
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
