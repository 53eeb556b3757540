import { readAliases } from '../client/aliases.ts'
import type { OpenSearch } from '../client/client.ts'
import { countDocuments } from '../client/shards.ts'
import type { IndexNames } from '../indices/index-names.ts'
import { TOMBSTONES } from '../order-documents/tombstone.ts'

export interface FilterableAliasOptions {
  client: OpenSearch
  names: IndexNames
  /** For each call, the response body included. */
  deadlineMs: number
}

/** The indices that searches with any filter may read; none or one. */
export async function readFilterableIndices({
  client,
  names: { filterableOrders },
  deadlineMs,
}: FilterableAliasOptions): Promise<string[]> {
  return Object.keys(await readAliases(client, deadlineMs, [filterableOrders]))
}

/** Every document of an earlier release lacks this field, and the keys of the other filters. */
const LACKS_FILTER_KEYS = {
  bool: { must_not: [TOMBSTONES, { exists: { field: 'paid_key' } }] },
}

/**
 * Whether every searchable document of an index has the keys of all filters.
 * @throws Unavailable
 */
export async function hasFilterKeys(
  { client, deadlineMs }: FilterableAliasOptions,
  index: string,
): Promise<boolean> {
  const first = { query: LACKS_FILTER_KEYS, terminate_after: 1 }
  return (await countDocuments(client, deadlineMs, index, first)) === 0
}
