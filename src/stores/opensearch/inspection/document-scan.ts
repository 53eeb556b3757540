import {
  type InspectedDocument,
  keyFields,
} from '../../../indexing/consistency-check/index-inspection.ts'
import { readAhead } from '../../../lib/async/read-ahead.ts'
import type { FilterColumn } from '../../../orders/filters/filter-generations.ts'
import { readAliases } from '../client/aliases.ts'
import {
  LACKS_SORT_KEYS,
  type ScannedHit,
  scanDocuments,
  searchPrimary,
} from '../client/search/scan.ts'
import { refreshIndices } from '../client/shards.ts'
import { findFilter } from '../indices/read-alias.ts'
import { findDamaged } from '../order-documents/damaged-documents.ts'
import type { OpenSearchInspectionOptions } from './inspection-options.ts'

const PAGE_SIZE = 1_000
/** The largest page of a search. */
const MAX_WITHOUT_SORT_KEYS = 10_000

const inOrder = (path: string) => `order.${path}`

const FILTER_FIELDS = {
  paid_key: 'paid_at',
  customer_email: 'customer.email',
  customer_document: 'customer.document',
  product_ids: 'items.product_id',
} as const satisfies Record<FilterColumn, string>

/** The checksum header, the keys, and the fields of the order behind the keys. */
const SOURCE = [
  'frame',
  ...keyFields,
  ...['id', 'status', 'payment.method', 'created_at', 'updated_at'].map(inOrder),
  ...Object.values(FILTER_FIELDS).map(inOrder),
]

type Options = OpenSearchInspectionOptions & { pageSize?: number }

/**
 * Scans the live index in the order of account and order id, then up to 10,000 documents without
 * these keys. Also reads each document by id, a few megabytes at a time, and verifies its checksum.
 * @throws Error when the alias hides documents from searches
 */
export async function* scanIndex(options: Options): AsyncGenerator<InspectedDocument[]> {
  const { client, names, deadlineMs, pageSize = PAGE_SIZE } = options
  const search = { client, index: names.orders, deadlineMs }
  const filter = findFilter(names, await readAliases(client, deadlineMs, [names.orders]))
  if (filter !== null) throw new Error(filter)
  // Makes everything written before the scan searchable.
  await refreshIndices(client, deadlineMs, [names.orders])

  const selection = { _source: SOURCE }
  const pages = readAhead(scanDocuments({ ...search, pageSize, selection }))
  for await (const page of pages) yield await withDamage(search, page)
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
): Promise<InspectedDocument[]> {
  const damaged = await findDamaged(search, page)
  return page.map((hit) => toInspectedDocument(hit, damaged.has(hit._id)))
}

/**
 * Converts a hit for the check: keys without the checksum header, and the address from its id. An
 * id without a colon is an order id without an account.
 */
export function toInspectedDocument(
  { _id, _source }: { _id: string; _source?: unknown },
  damaged: boolean,
): InspectedDocument {
  const { frame: _, order, ...keys } = Object(_source) as Record<string, unknown>
  const [, accountId = '', orderId = _id] = /^([^:]*):(.*)$/s.exec(_id) ?? []
  return { address: { accountId, orderId }, keys, order, ...(damaged && { damaged }) }
}
