import { type FoundDocument, keyFields } from '../../indexing/inspection/index-inspection.ts'
import { ask } from './client.ts'
import { PLACED, searchOnce, walkDocuments } from './document-walk.ts'
import type { OpenSearchInspectionOptions } from './inspection.ts'

const PAGE_SIZE = 1_000
/** More than this no search answers with. */
const MAX_UNPLACED = 10_000

/** The keys, and of the order what they are made of. */
const SOURCE = [
  ...keyFields,
  ...['id', 'status', 'payment.method', 'created_at', 'updated_at'].map((path) => `order.${path}`),
]

type Options = OpenSearchInspectionOptions & { pageSize?: number }

/**
 * Every document of the index that is read, in the order of account and order. Documents without a place come
 * last, the first 10,000 of them.
 */
export async function* walkIndex(options: Options): AsyncGenerator<FoundDocument[]> {
  const { client, names, deadlineMs, pageSize = PAGE_SIZE } = options
  const search = { client, index: names.orders, deadlineMs }
  // What was written before the walk can be found by it.
  await ask(deadlineMs, (call) => client.indices.refresh({ index: names.orders }, call))

  const wanted = { _source: SOURCE }
  for await (const page of walkDocuments({ ...search, pageSize, wanted })) {
    yield page.map(foundDocument)
  }
  const unplaced = { bool: { must_not: [{ bool: { filter: PLACED } }] } }
  const last = await searchOnce(search, { ...wanted, size: MAX_UNPLACED, query: unplaced })
  if (last.length > 0) yield last.map(foundDocument)
}

/** A document as it is told, whatever is in it. */
export function foundDocument({ _id, _source }: { _id: string; _source?: unknown }): FoundDocument {
  const { order, ...keys } = Object(_source) as Record<string, unknown>
  const [, accountId = '', orderId = _id] = /^([^:]*):(.*)$/s.exec(_id) ?? []
  return { address: { accountId, orderId }, keys, order }
}
