import { DatabaseSync } from 'node:sqlite'
import { type Backend, onServices, opensearch } from './backend.ts'

/** Stores a document as an older schema version without this field would. */
export async function downgradeSchema(
  { folder, env }: Pick<Backend, 'folder' | 'env'>,
  accountId: string,
  orderId: string,
  field: string,
): Promise<void> {
  if (onServices) {
    const script = {
      source: `ctx._source.remove('frame'); ctx._source.shape -= 1; ctx._source.order.remove('${field}')`,
    }
    const document = `${env['INDEX_PREFIX']}orders/_update/${accountId}:${orderId}`
    await opensearch('POST', `${document}?routing=${accountId}&refresh=true`, { script })
    return
  }
  using db = new DatabaseSync(`${folder}/orders.db`)
  db.prepare(
    'UPDATE orders SET shape = shape - 1, json = CAST(json_remove(CAST(json AS TEXT), ?) AS BLOB) WHERE account_id = ? AND id = ?',
  ).run(`$.${field}`, accountId, orderId)
}
