import { DatabaseSync } from 'node:sqlite'
import { type Backend, onServices, opensearch } from './backend.ts'

/**
 * Leaves an index as a writer with a clock that far ahead would: its orders and its last write have
 * timestamps in the future.
 */
export async function writeFutureTimestamps(
  { env, folder }: Backend,
  stampMs: number,
): Promise<void> {
  if (!onServices) {
    using db = new DatabaseSync(`${folder}/orders.db`)
    db.exec(`UPDATE writer SET last_stamp = ${stampMs}, boot_id = NULL`)
    db.exec(`UPDATE orders SET updated_key = ${stampMs}, written_key = ${stampMs}`)
    return
  }
  const prefix = env['INDEX_PREFIX']
  const doc = { stamp_ceiling: stampMs, released: true }
  await opensearch('POST', `${prefix}writer/_update/orders?refresh=true`, { doc })
  await opensearch('POST', `${prefix}orders/_update_by_query?refresh=true`, {
    script: {
      source: 'ctx._source.updated_key = params.at; ctx._source.written_key = params.at',
      params: { at: stampMs },
    },
  })
}
