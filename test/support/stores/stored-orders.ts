import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ExpectedOrder } from '../simulation/change-history.ts'
import { opensearch } from './backend.ts'

interface Answer {
  hits: { hits: { _id: string; _source: { order: StoredOrder }; sort: unknown[] }[] }
}
type StoredOrder = { updated_at: string | null } & Record<string, unknown>

const PAGE_SIZE = 5_000

/** Every document of an order by its id, in the form that the tests compare with the truth. */
export async function readStored(indexPrefix: string): Promise<Map<string, ExpectedOrder>> {
  const stored = new Map<string, ExpectedOrder>()
  for (let after: unknown[] | undefined; ; ) {
    const { hits } = await opensearch<Answer>('POST', `${indexPrefix}orders/_search`, {
      size: PAGE_SIZE,
      query: { exists: { field: 'account_id' } }, // Without tombstones.
      sort: [{ account_id: 'asc' }, { id: 'asc' }],
      ...(after && { search_after: after }),
    })
    for (const { _id, _source } of hits.hits) {
      const { updated_at, ...order } = _source.order
      stored.set(_id, { order, dated: updated_at !== null })
    }
    if (hits.hits.length < PAGE_SIZE) return stored
    after = hits.hits.at(-1)?.sort
  }
}

/** The same of an embedded store. */
export function readStoredEmbedded(dataDir: string): Map<string, ExpectedOrder> {
  using db = new DatabaseSync(join(dataDir, 'orders.db'))
  const rows = db.prepare('SELECT account_id, id, json FROM orders').all()
  return new Map(
    rows.map(({ account_id, id, json }) => {
      const text = Buffer.from(json as Uint8Array).toString()
      const { updated_at, ...order }: StoredOrder = JSON.parse(text)
      return [`${account_id}:${id}`, { order, dated: updated_at !== null }]
    }),
  )
}
