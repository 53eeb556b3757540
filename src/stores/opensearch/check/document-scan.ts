import {
  type FoundDocument,
  keyFields,
} from '../../../indexing/consistency-check/index-inspection.ts'
import { read } from '../client/client.ts'
import { LACKS_SORT_KEYS, type ScannedHit, scanDocuments, searchPrimary } from '../client/scan.ts'
import type { OpenSearchCheckOptions } from './consistency-check.ts'
import { findDamaged } from './damaged-documents.ts'

const PAGE_SIZE = 1_000
/** More than this no search answers with. */
const MAX_WITHOUT_SORT_KEYS = 10_000

/** The frame, the keys, and of the order what they are made of. */
const SOURCE = [
  'frame',
  ...keyFields,
  ...['id', 'status', 'payment.method', 'created_at', 'updated_at'].map((path) => `order.${path}`),
]

type Options = OpenSearchCheckOptions & { pageSize?: number }

/**
 * Every document of the index that is read, in the order of account and order. Documents without a place come
 * last, the first 10,000 of them. Of a page that was found, every document is read whole besides, a few
 * megabytes at a time, and held against its frame.
 */
export async function* scanIndex(options: Options): AsyncGenerator<FoundDocument[]> {
  const { client, names, deadlineMs, pageSize = PAGE_SIZE } = options
  const search = { client, index: names.orders, deadlineMs }
  // What was written before the walk can be found by it.
  await read(deadlineMs, (call) => client.indices.refresh({ index: names.orders }, call))

  const selection = { _source: SOURCE }
  for await (const page of scanDocuments({ ...search, pageSize, selection })) {
    yield await withDamage(search, page)
  }
  const unsorted = await searchPrimary(search, {
    ...selection,
    size: MAX_WITHOUT_SORT_KEYS,
    query: LACKS_SORT_KEYS,
  })
  if (unsorted.length > 0) yield await withDamage(search, unsorted)
}

async function withDamage(
  search: Parameters<typeof findDamaged>[0],
  page: readonly ScannedHit[],
): Promise<FoundDocument[]> {
  const damaged = await findDamaged(search, page)
  return page.map((hit) => toFoundDocument(hit, damaged.has(hit._id)))
}

/** A document as it is told, whatever is in it. */
export function toFoundDocument(
  { _id, _source }: { _id: string; _source?: unknown },
  damaged: boolean,
): FoundDocument {
  const { frame: _, order, ...keys } = Object(_source) as Record<string, unknown>
  const [, accountId = '', orderId = _id] = /^([^:]*):(.*)$/s.exec(_id) ?? []
  return { address: { accountId, orderId }, keys, order, ...(damaged && { damaged }) }
}
